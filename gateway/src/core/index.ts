/**
 * core: the words of the gateway as pure values. No side effects, imports nothing of ours.
 * Turn and answer, usage, money and price, failure, principal, deployment and model, ledger entry, catalog, and every bound.
 */
export * from "./actor.ts";
export * from "./address-key.ts";
export * from "./address-range.ts";
export * from "./answer.ts";
export * from "./asset.ts";
export * from "./bounded-map.ts";
export * from "./bounds.ts";
export * from "./call-signal.ts";
export * from "./canonical-json.ts";
export * from "./catalog.ts";
export * from "./check-fields.ts";
export * from "./dearest.ts";
export * from "./declared-token.ts";
export * from "./deployment.ts";
export * from "./dialect.ts";
export * from "./egress-proxy.ts";
export * from "./embedding-turn.ts";
export * from "./failure.ts";
export * from "./header-reader.ts";
export * from "./image-turn.ts";
export * from "./key-rules.ts";
export * from "./lasting-fault.ts";
export * from "./ledger-entry.ts";
export * from "./limit.ts";
export * from "./money.ts";
export * from "./name-cursor.ts";
export * from "./pieces-match.ts";
export * from "./price.ts";
export * from "./price-config.ts";
export * from "./principal.ts";
export * from "./provider-secrets.ts";
export * from "./rights/claim-values.ts";
export * from "./rights/oidc-defaults.ts";
export * from "./rights/rights-from-claims.ts";
export * from "./running-time.ts";
export * from "./secret.ts";
export * from "./secret-looks.ts";
export * from "./task.ts";
export * from "./try-window.ts";
export * from "./turn.ts";
export * from "./unpriced-model.ts";
export * from "./usage.ts";
export * from "./video-turn.ts";
export * from "./window-counts.ts";
