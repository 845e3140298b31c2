import type { NamingPolicy } from './copy-plan.js';

/** How the handles of a copy name its files. */
export const namingPolicy: NamingPolicy = () => 'relative';
