import { workflowBundle } from './bundle.ts';

/** Builds the bundle in a process of its own, which gives its memory back; for images and for the embedded stack. */
const cacheFolder = process.argv[2];
if (cacheFolder === undefined) throw new Error('Say into which folder the bundle goes.');
process.stdout.write(`${(await workflowBundle(cacheFolder)).codePath}\n`);
