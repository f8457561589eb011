/** What the product finds in the place of node:timers/promises. */
export { pause as setTimeout } from './virtual.ts';
