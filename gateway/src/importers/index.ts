/**
 * importers: translates the configuration of other gateways to the words of our config file. Pure: the command line reads the files and databases, and
 * `directory` makes the objects.
 *
 * Promises: an odd or missing value is never an error. Settings without a counterpart are listed with a reason, never dropped. Secrets appear only
 * in the fields of the draft that are secret.
 */

export { fromBifrost } from "./bifrost/bifrost.ts";
export { bifrostTables } from "./bifrost/bifrost-input.ts";
export type { ImportSources } from "./import-sources.ts";
export { fromLiteLlm } from "./litellm/litellm.ts";
export { liteLlmTables } from "./litellm/litellm-input.ts";
export type { Loose } from "./loose.ts";
export { fromNewApi } from "./new-api/new-api.ts";
export { newApiTables } from "./new-api/new-api-input.ts";
export { fromOpenRouter } from "./openrouter.ts";
export { fromPortkey } from "./portkey.ts";
