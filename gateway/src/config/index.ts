/**
 * config: reads the environment and the config file, each into one frozen value. If something is wrong, it reports all
 * problems at once.
 *
 * Variables: the environment of the process, as a record. Environment: the settings from the SLUICE_* variables and the API key
 * variables of vendors. Problem: a message with file, line, column and path. `${NAME}` in a string of the file is replaced by a variable
 * after parsing, so its value cannot change the structure.
 *
 * If the file is missing or invalid, the current configuration stays, and watching continues. Messages never contain secrets or values of
 * variables.
 */

export { didYouMean } from "./closest-name.ts";
export { ConfigInvalid, EnvironmentInvalid, type Problem, problemLine } from "./config-invalid.ts";
export { type Environment, readEnvironment } from "./environment.ts";
export type { PriceListSource, TlsFiles } from "./environment-values.ts";
export type { Variables } from "./expand-variables.ts";
export { loadChange, loadConfigFile, redactedSource } from "./load-config-file.ts";
export type { ParsedChange } from "./parse-change.ts";
export type { ConfigCheck } from "./parse-config.ts";
export { processVariables, secretNames, withFiles } from "./variable-files.ts";
export { isHost } from "./variable-reader.ts";
export { type ConfigWatch, fileState, watchConfigFile } from "./watch-config-file.ts";
