/**
 * config: the environment and the config file, each read into one frozen value or refused with every problem at once.
 *
 * Variables: the process's environment, a plain record. Environment: what SLUICE_* and the vendors' key variables say.
 * Problem: one thing wrong, with file, line, column and path. `${NAME}` in a string of the file reads a variable; it is
 * put in after parsing, so that no value of a variable can change what the file means.
 *
 * When the file is missing, half written, too large or wrong, nothing changes: loading throws ConfigInvalid, whose
 * messages never hold the value of a variable or a secret, and watching goes on.
 */

export { closestOf, didYouMean } from "./closest-name.ts";
export type { Problem } from "./config-invalid.ts";
export { ConfigInvalid } from "./config-invalid.ts";
export type { Environment, ProviderVariables } from "./environment.ts";
export { EnvironmentInvalid, readEnvironment } from "./environment.ts";
export type { Variables } from "./expand-variables.ts";
export { isHost, isLoopbackHost } from "./listen-host.ts";
export type { ConfigCheck } from "./load-config-file.ts";
export { loadConfigFile } from "./load-config-file.ts";
export { processVariables } from "./process-variables.ts";
export { redactedSource } from "./shown-source.ts";
export type { ConfigWatch } from "./watch-config-file.ts";
export { watchConfigFile } from "./watch-config-file.ts";
