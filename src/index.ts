/**
 * The library behind `ckpt`: reads, checks and manages the checkpoints and savepoints of Apache Flink.
 *
 * @packageDocumentation
 */

export * from './errors.js';
