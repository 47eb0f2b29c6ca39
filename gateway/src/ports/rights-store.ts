import type { RightsRule } from "@sluice/contract/config-file";
import type { WorkspaceRole } from "@sluice/contract/words";
import type { Claims, RightsClaimed, Secret } from "#core/index.ts";
import type { AuditSource } from "./people-store.ts";

/** Who says something of people: an account of single sign-on, by its id, or SCIM. */
export type RightsSource = `oidc:${string}` | "scim";

/** What a source says of somebody now. It takes the place of what it said before. */
export interface Said {
  readonly userId: string;
  readonly source: RightsSource;
  readonly claims: Claims;
  /** The issuer's; null: it gave none. Left out: the one there is stays. */
  readonly refreshToken?: Secret | null;
  /** The session of the console that goes on when their rights change: the one that this sign-in opened. */
  readonly keptSession?: string | null;
}

/** What somebody holds in one place, and by whom. `workspace` null: the installation. */
export interface GivenRight {
  readonly source: RightsSource | "manual";
  readonly workspace: string | null;
  readonly role: WorkspaceRole | "administrator" | null;
  readonly group: string | null;
  readonly rules: string;
}

/** An issuer to be asked again about somebody. */
export interface IssuerToAsk {
  readonly source: `oidc:${string}`;
  readonly refreshToken: Secret;
  readonly saidAt: number;
  readonly askedAt: number;
}

/**
 * Rules that turn what sources say of people into rights, and the rights that they gave. A right has a source: what one gave, one takes
 * away again when its rules or claims give it no more; what was given by hand (`manual`) none touches. Somebody holds the highest of what
 * all give. The last administrator and the last owner of a workspace stay. Users of the config file hold what the file says, and nothing else.
 */
export interface RightsStore {
  rules(source: RightsSource): Promise<readonly RightsRule[]>;
  /** Whether the config file says them. */
  ownedByFile(source: RightsSource): Promise<boolean>;
  /** Throws `managed_by_file`, and `invalid_request` for a rule that names what is not there. Call `settle` afterwards. */
  putRules(source: RightsSource, rules: readonly RightsRule[], auditSource: AuditSource): Promise<void>;
  /** Keeps what the rules read of the claims, and puts it into rights. Gives what could not be taken away, in words. */
  take(said: Said, auditSource: AuditSource): Promise<readonly string[]>;
  /** Puts everybody under the rules as they are now, in small writes; a claim that was not read before waits for the next sign-in. */
  settle(): Promise<readonly string[]>;
  /** What claims would give, by the rules of a source or by these; changes nothing. */
  tryClaims(rules: readonly RightsRule[], claims: Claims): Promise<RightsClaimed>;
  given(userId: string): Promise<readonly GivenRight[]>;
  issuersToAsk(userId: string): Promise<readonly IssuerToAsk[]>;
  /** false: another process asks already. */
  beginAsking(userId: string, asked: Pick<IssuerToAsk, "source" | "askedAt">): Promise<boolean>;
  /** The issuer knows the refresh token no more: agents and sessions of the person end. false: there is another token by now. */
  refuse(
    userId: string,
    asked: Pick<IssuerToAsk, "source" | "refreshToken">,
    auditSource: AuditSource,
  ): Promise<boolean>;
}
