import type { BodyOf } from "@sluice/contract";
import type { KeyChange } from "#ports/index.ts";

type KeyBody = BodyOf<"keys.create"> | BodyOf<"keys.update">;

export function keyChangeOf(body: KeyBody): KeyChange {
  return {
    name: body.name,
    group: body.group,
    models: body.models,
    passThrough: body.pass_through,
    allowedIps: body.allowed_ips,
    expiresAt: body.expires_at,
    limits: body.limits,
    budget: body.budget,
    tags: body.tags,
    capture: body.capture,
    enabled: "enabled" in body ? body.enabled : undefined,
  };
}
