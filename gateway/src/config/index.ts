/**
 * config: reads the environment and the config file, each into one frozen value. If something is wrong, it reports all
 * problems at once.
 *
 * Variables: the environment of the process, as a plain record. Environment: what the variables SLUICE_* and the API key
 * variables of vendors say. Problem: one thing that is wrong, with file, line, column and path. `${NAME}` in a string of
 * the file stands for a variable. It is replaced after parsing, so the value of a variable cannot change the structure.
 *
 * When the file is missing, incomplete, too large or wrong, nothing changes. Loading throws ConfigInvalid; its messages
 * never contain the value of a variable or a secret. Watching goes on.
 */

export { didYouMean } from "./closest-name.ts";
export type { Problem } from "./config-invalid.ts";
export { ConfigInvalid, EnvironmentInvalid, problemLine } from "./config-invalid.ts";
export type { Environment } from "./environment.ts";
export { readEnvironment } from "./environment.ts";
export type { Variables } from "./expand-variables.ts";
export { isHost, isLoopbackHost } from "./listen-host.ts";
export type { ConfigCheck } from "./load-config-file.ts";
export { loadConfigFile } from "./load-config-file.ts";
export type { TlsFiles } from "./read-network.ts";
export type { PriceListSource } from "./read-price-list-source.ts";
export { redactedSource } from "./shown-source.ts";
export { processVariables, secretNames, withFiles } from "./variable-files.ts";
export type { ConfigWatch } from "./watch-config-file.ts";
export { fileState, watchConfigFile } from "./watch-config-file.ts";
