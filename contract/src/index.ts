/** contract: schemas and types shared by the gateway, the console and scripts. Imports nothing of ours. */

export { checkAgentSettings, type SettingsRemark } from "./agent-settings/check-settings.ts";
export * from "./answers.ts";
export * from "./bill-classes.ts";
export * from "./brand.ts";
export * from "./config.ts";
export * from "./config-fields.ts";
export * from "./config-json-schema.ts";
export * from "./config-limits.ts";
export * from "./conflicts.ts";
export * from "./console/index.ts";
export * from "./error-codes.ts";
export * from "./focus-columns.ts";
export * from "./guardrail-faults.ts";
export * from "./guardrail-fields.ts";
export * from "./guardrail-table.ts";
export * from "./ledger-table.ts";
export * from "./model-endpoints.ts";
export * from "./model-type.ts";
export * from "./names.ts";
export * from "./openapi.ts";
export * from "./provider-kinds.ts";
export * from "./rehearsed-change.ts";
export * from "./request-fields.ts";
export * from "./settings-table.ts";
export * from "./usage-classes.ts";
