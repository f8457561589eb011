import { workflowBundle } from './bundle.ts';

/**
 * Builds the workflows' bundle ahead of the first start, while an image is made: a worker then starts without the compiler's three
 * seconds, and in a container whose files cannot be written to. Usage: `node dist/worker/build-bundle.js FOLDER`, where FOLDER
 * is what CACHE_FOLDER will be.
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('Name the folder for the bundle, the same that CACHE_FOLDER will name.\n');
  process.exitCode = 2;
} else {
  process.stdout.write(`${(await workflowBundle(folder)).codePath}\n`);
}
