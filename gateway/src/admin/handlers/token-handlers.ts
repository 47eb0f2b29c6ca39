import type { AdminToken } from "@sluice/contract";
import { type Actor, type ConfigSnapshot, Failure, type Grant, invalidRequest, orNotFound } from "#core/index.ts";
import {
  adminTokenPrefix,
  checkGrant,
  keySecretBytes,
  makeAdminTokenSecret,
  makeScimTokenSecret,
  mayRevokeToken,
} from "#identity/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { grantOf, workspaceNamed } from "./callers.ts";
import { type ConsoleCall, type Handlers, pageSize } from "./calls.ts";
import { countOf, notCounted } from "./list-count.ts";

export function tokenHandlers(dependencies: ConsoleDependencies) {
  const { people, vault } = dependencies;
  return {
    "tokens.list": async ({ query, actor }) => {
      const ownerId = actor.administrator ? null : actor.userId;
      const { data, next } = await people.listTokens(ownerId, query.cursor ?? null, query.limit ?? pageSize);
      // A token sees only the tokens that it may revoke, so its list has no total.
      const count =
        actor.tokenId === undefined ? await countOf(dependencies, { list: "tokens", filter: { ownerId } }) : notCounted;
      return { data: data.filter((token) => mayRevokeToken(actor, revocable(token))), next, ...count };
    },
    "tokens.create": async ({ body, actor: creator, auditSource }) => {
      const grant = requestedGrant(body, creator, dependencies.configSnapshot());
      checkGrant(creator, grant);
      const expiresAt = await requestedExpiry(dependencies, body.expires_at ?? null, creator);
      const scim = body.scim === true;
      const makeSecret = scim ? makeScimTokenSecret : makeAdminTokenSecret;
      const secret = makeSecret(dependencies.randomBytes(keySecretBytes));
      const token = await people.createToken(
        {
          name: body.name,
          grant,
          ownerId: creator.userId,
          digest: vault.digest(secret),
          prefix: adminTokenPrefix(secret),
          expiresAt,
          ...(scim ? { scim } : {}),
          ...(creator.tokenId === undefined ? {} : { madeWith: creator.tokenId }),
        },
        auditSource,
      );
      return { token, secret };
    },
    "tokens.revoke": async ({ params, actor, auditSource }) => {
      const token = await people.token(params.token);
      const own = token !== null && mayRevokeToken(actor, revocable(token)) ? token : null;
      await people.revokeToken(orNotFound(own, "admin token of yours", "token").id, auditSource);
    },
  } satisfies Partial<Handlers>;
}

function requestedGrant(
  body: ConsoleCall<"tokens.create">["body"],
  creator: Actor,
  configSnapshot: ConfigSnapshot,
): Grant {
  if (body.administrator === true || body.scim === true) {
    const both = body.administrator === true && body.scim === true ? "administrator" : null;
    const other = both ?? (body.workspace !== undefined ? "workspace" : body.role !== undefined ? "role" : null);
    if (other === null) return { administrator: true };
    throw invalidRequest(other, "SCIM and administrator tokens cannot be limited to a workspace. Omit this field.");
  }
  if (body.workspace === undefined) throw missing("workspace");
  if (body.role === undefined) throw missing("role");
  const workspace = workspaceNamed(body.workspace, creator, configSnapshot);
  if (workspace === null) {
    throw invalidRequest("workspace", "Set either `workspace` or `administrator`.");
  }
  return { administrator: false, workspaceId: workspace.id, role: body.role };
}

/** A token cannot create a token that outlives it. */
async function requestedExpiry(
  { people, clock }: ConsoleDependencies,
  requested: number | null,
  creator: Actor,
): Promise<number | null> {
  if (requested !== null && requested <= clock.now()) {
    throw invalidRequest("expires_at", "`expires_at` must be in the future.");
  }
  const end = creator.tokenId === undefined ? null : ((await people.token(creator.tokenId))?.expires_at ?? null);
  if (end !== null && requested !== null && requested > end) {
    throw new Failure("forbidden", "A token cannot create a token that expires later than itself.", {
      param: "expires_at",
    });
  }
  return requested ?? end;
}

function revocable({ id, owner, workspace, role }: AdminToken) {
  return { id, ownerId: owner.id, grant: grantOf({ workspace, role }) };
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `Set \`${param}\` or \`administrator\`.`, { param });
}
