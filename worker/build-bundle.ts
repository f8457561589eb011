import { workflowBundle } from './bundle.ts';

/**
 * Builds the workflows' bundle ahead of a worker's start, in a process of its own that gives its memory back: for the embedded
 * stack, and while an image is made, whose files cannot be written to later. Prints the bundle's path.
 * Usage: `node dist/worker/build-bundle.js FOLDER`, where FOLDER is what CACHE_FOLDER names for the workers.
 */
const cacheFolder = process.argv[2];
if (cacheFolder === undefined) throw new Error('Say into which folder the bundle goes.');
process.stdout.write(`${(await workflowBundle(cacheFolder)).codePath}\n`);
