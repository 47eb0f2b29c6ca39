/**
 * core: the vocabulary of the gateway as plain values without side effects; imports nothing of ours. Turn and answer, usage, money and
 * price, failure, principal, deployment and model, ledger entry, config snapshot, and limits shared by several modules.
 */
export * from "./actor.ts";
export * from "./address.ts";
export * from "./answer.ts";
export * from "./asset.ts";
export * from "./bounded-map.ts";
export * from "./bounds/memory-bounds.ts";
export * from "./bounds.ts";
export * from "./caller-memory.ts";
export * from "./check-fields.ts";
export * from "./columns.ts";
export * from "./config-snapshot.ts";
export * from "./control-call.ts";
export * from "./deployment.ts";
export * from "./dialect.ts";
export * from "./egress-proxy.ts";
export * from "./failure.ts";
export * from "./guardrail.ts";
export * from "./hold-prices.ts";
export * from "./key-rules.ts";
export * from "./lasting-fault.ts";
export * from "./ledger-entry.ts";
export * from "./limit.ts";
export * from "./money.ts";
export * from "./price.ts";
export * from "./price-config.ts";
export * from "./principal.ts";
export * from "./redactor.ts";
export * from "./rights/claim-values.ts";
export * from "./rights/rights-from-claims.ts";
export * from "./runtime-types.ts";
export * from "./secret.ts";
export * from "./served.ts";
export * from "./session.ts";
export * from "./settle.ts";
export * from "./task.ts";
export * from "./texts.ts";
export * from "./time-zone.ts";
export * from "./try-window.ts";
export * from "./turn.ts";
export * from "./upstream-object.ts";
export * from "./usage.ts";
export * from "./user-agents.ts";
export * from "./wait.ts";
export * from "./without-undefined.ts";
