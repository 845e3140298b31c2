// Preloaded with --import: writes a line `loads <url>` to standard error for every file that is imported or required.
import { writeSync } from 'node:fs';
import { Module, register } from 'node:module';

register(
  `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      writeSync(2, 'loads ' + url + '\\n');
      return next(url, context);
    }
  `)}`,
);

const load = Module._load;
Module._load = function (request, parent, isMain) {
  const file = Module.isBuiltin(request) ? undefined : Module._resolveFilename(request, parent, isMain);
  if (file !== undefined) writeSync(2, `loads file://${file}\n`);
  return load.call(this, request, parent, isMain);
};
