// Preloaded into a server: at its end it says on stderr, as JSON, of which packages it loaded a file.

import { registerHooks } from 'node:module';

const packages = new Set();
registerHooks({
  load(url, context, next) {
    const place = url.lastIndexOf('/node_modules/');
    if (place >= 0) {
      const [scope, name] = url.slice(place + '/node_modules/'.length).split('/');
      packages.add(scope.startsWith('@') ? `${scope}/${name}` : scope);
    }
    return next(url, context);
  },
});
process.on('exit', () => console.error(JSON.stringify([...packages])));
