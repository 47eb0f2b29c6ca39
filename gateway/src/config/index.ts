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
export { ConfigInvalid, EnvironmentInvalid, type Problem, problemLine } from "./config-invalid.ts";
export { type Environment, readEnvironment } from "./environment.ts";
export type { PriceListSource, TlsFiles } from "./environment-values.ts";
export type { Variables } from "./expand-variables.ts";
export { loadConfigFile, redactedSource } from "./load-config-file.ts";
export type { ConfigCheck } from "./parse-config.ts";
export { processVariables, secretNames, withFiles } from "./variable-files.ts";
export { isHost } from "./variable-reader.ts";
export { type ConfigWatch, fileState, watchConfigFile } from "./watch-config-file.ts";
