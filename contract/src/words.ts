/**
 * Tables, names and rules of the contract as plain values. They import no schema, so that threads of the gateway can use them
 * without loading zod.
 */
export * from "./agent-setup.ts";
export * from "./asset-fields.ts";
export * from "./bill-classes.ts";
export * from "./brand.ts";
export * from "./budget-windows.ts";
export * from "./conflicts.ts";
export * from "./console/alert-sentences.ts";
export * from "./console/alert-table.ts";
export * from "./console/areas.ts";
export * from "./console/key-owners.ts";
export * from "./console/languages.ts";
export * from "./console/paths.ts";
export * from "./console/remark-codes.ts";
export * from "./console/remark-sentences.ts";
export * from "./console/roles.ts";
export * from "./console/states.ts";
export * from "./error-codes.ts";
export * from "./focus-columns.ts";
export * from "./form-fields.ts";
export * from "./guardrail-faults.ts";
export * from "./guardrail-table.ts";
export * from "./ledger-table.ts";
export * from "./model-endpoints.ts";
export * from "./names.ts";
export * from "./request-fields.ts";
export * from "./rule-fault.ts";
export * from "./settings-table.ts";
export * from "./usage-classes.ts";
export * from "./video-fields.ts";
