/**
 * directory: workspaces, groups, keys, providers, models, settings, people, their rights and coding agents. Each object's
 * rules and SQL stand together; the admin API, the command line, the config file and identity providers (SCIM) write here.
 *
 * Promises: a write, its audit rows and its change notices are one transaction. Objects with the owner `file` belong to the
 * config file, those with `console` to the admin API. When the database is down, calls reject and nothing is half done.
 */

export { createAgentStore } from "./agents/agent-store.ts";
export { createControlStore } from "./control-store.ts";
export { createPeopleStore } from "./people/people-store.ts";
export { kindConflicts } from "./providers/providers.ts";
export { ConfigConflict } from "./refusals.ts";
export { createRightsStore } from "./rights/rights-store.ts";
export { createScimStore } from "./scim/scim-store.ts";
export { ledgerExportPlace } from "./settings.ts";
