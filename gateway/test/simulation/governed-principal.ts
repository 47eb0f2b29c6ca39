import {
  type ApiKey,
  type Budget,
  type LimitScope,
  type Principal,
  personScopeId,
  type RateLimits,
  type ScopeKind,
  scopesOf,
} from "#core/index.ts";

export interface ScopeLimits {
  readonly limits?: RateLimits;
  readonly budget?: Budget;
}

/**
 * A caller `acme/ci` in the group `default`, with these limits on its scopes. With limits on the person, the key
 * belongs to Ada.
 */
export function governedPrincipal(on: { readonly [K in ScopeKind]?: ScopeLimits }): Principal {
  const workspaceScope = scope("workspace", "ws_1", "workspace acme", on.workspace);
  const groupScope = scope("group", "grp_1", "group acme/default", on.group);
  const keyScope = scope("key", "key_1", "key acme/ci", on.key);
  const workspace = {
    id: "ws_1",
    slug: "acme",
    name: "Acme",
    models: ["*"],
    passThrough: [],
    scope: workspaceScope,
    enabled: true,
  };
  const group = {
    id: "grp_1",
    workspaceId: "ws_1",
    name: "default",
    models: ["*"],
    passThrough: [],
    scope: groupScope,
  };
  const key: ApiKey = {
    id: "key_1",
    workspaceId: "ws_1",
    groupId: "grp_1",
    name: "ci",
    prefix: "sk-sluice",
    lastFour: "abcd",
    models: null,
    passThrough: [],
    allowedIps: null,
    scope: keyScope,
    enabled: true,
    expiresAt: null,
    createdAt: 0,
    tags: {},
    capture: "none",
  };
  if (on.person === undefined) {
    return { key, group, workspace, person: null, scopes: [workspaceScope, groupScope, keyScope] };
  }
  const ada = "usr_ada";
  const personScope = scope("person", personScopeId("ws_1", ada), "person acme/ada@example.com", on.person);
  const own = { ...key, ownerId: ada, personScope };
  return { key: own, group, workspace, person: ada, scopes: scopesOf(workspace, group, own) };
}

function scope(kind: ScopeKind, id: string, label: string, on: ScopeLimits | undefined): LimitScope {
  return { kind, id, label, limits: on?.limits ?? {}, budget: on?.budget ?? null };
}
