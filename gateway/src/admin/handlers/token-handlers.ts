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

export function tokenHandlers(dependencies: ConsoleDependencies) {
  const { people, vault } = dependencies;
  return {
    "tokens.list": async ({ query, actor }) => {
      const ownerId = actor.administrator ? null : actor.userId;
      const { data, next } = await people.listTokens(ownerId, query.cursor ?? null, query.limit ?? pageSize);
      // A token sees only the tokens that it may revoke.
      return { data: data.filter((token) => mayRevokeToken(actor, revocable(token))), next };
    },
    "tokens.create": async ({ body, actor: maker, auditSource }) => {
      const grant = requestedGrant(body, maker, dependencies.configSnapshot());
      checkGrant(maker, grant);
      const expiresAt = await requestedExpiry(dependencies, body.expires_at ?? null, maker);
      const scim = body.scim === true;
      const makeSecret = scim ? makeScimTokenSecret : makeAdminTokenSecret;
      const secret = makeSecret(dependencies.randomBytes(keySecretBytes));
      const token = await people.createToken(
        {
          name: body.name,
          grant,
          ownerId: maker.userId,
          digest: vault.digest(secret),
          prefix: adminTokenPrefix(secret),
          expiresAt,
          ...(scim ? { scim } : {}),
          ...(maker.tokenId === undefined ? {} : { madeWith: maker.tokenId }),
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
  maker: Actor,
  configSnapshot: ConfigSnapshot,
): Grant {
  if (body.administrator === true || body.scim === true) {
    const both = body.administrator === true && body.scim === true ? "administrator" : null;
    const other = both ?? (body.workspace !== undefined ? "workspace" : body.role !== undefined ? "role" : null);
    if (other === null) return { administrator: true };
    throw invalidRequest(
      other,
      "Tokens for SCIM and of administrators cannot be limited to a workspace. Leave this out.",
    );
  }
  if (body.workspace === undefined) throw missing("workspace");
  if (body.role === undefined) throw missing("role");
  const workspace = workspaceNamed(body.workspace, maker, configSnapshot);
  if (workspace === null) {
    throw invalidRequest("workspace", "Set either `workspace` or `administrator`.");
  }
  return { administrator: false, workspaceId: workspace.id, role: body.role };
}

/** A token cannot create a token that outlives it. */
async function requestedExpiry(
  { people, clock }: ConsoleDependencies,
  asked: number | null,
  maker: Actor,
): Promise<number | null> {
  if (asked !== null && asked <= clock.now()) {
    throw invalidRequest("expires_at", "`expires_at` must be in the future.");
  }
  const end = maker.tokenId === undefined ? null : ((await people.token(maker.tokenId))?.expires_at ?? null);
  if (end !== null && asked !== null && asked > end) {
    throw new Failure("forbidden", "A token cannot create a token that expires later than itself.", {
      param: "expires_at",
    });
  }
  return asked ?? end;
}

function revocable({ id, owner, workspace, role }: AdminToken) {
  return { id, ownerId: owner.id, grant: grantOf({ workspace, role }) };
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `\`${param}\` is needed, or \`administrator\`.`, { param });
}
