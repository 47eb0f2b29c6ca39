import type { BodyInput, ConsoleSettings } from "@sluice/contract";
import { t as rulesText } from "../../language/areas/rules.ts";
import { t } from "../../language/areas/settings.ts";
import type { Faults } from "../catalog/use-faults.ts";

export type OidcAccount = ConsoleSettings["oidc"][number];

/** The same as in the contract's schema, which is not imported, so that the page loads no schemas. */
const idPattern = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The same as in the contract. */
export const recheckMinutesBounds = { min: 5, max: 1_440 };
export const graceHoursBounds = { min: 0, max: 720 };

export interface OidcDraft {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Empty: keep the stored one. */
  readonly clientSecret: string;
  readonly domains: readonly string[];
  readonly secondFactorTrusted: boolean;
  readonly scopes: readonly string[];
  readonly offlineAccess: boolean;
  /** The entered text. */
  readonly recheckMinutes: number | "";
  readonly graceHours: number | "";
  /** Empty: the issuer's usual one, if there is one. */
  readonly directoryClaim: string;
}

export function draftOf(account: OidcAccount | null): OidcDraft {
  return {
    id: account?.id ?? "",
    name: account?.name ?? "",
    issuer: account?.issuer ?? "",
    clientId: account?.client_id ?? "",
    clientSecret: "",
    domains: account?.allowed_domains ?? [],
    secondFactorTrusted: account?.second_factor_trusted ?? false,
    scopes: account?.scopes ?? [],
    offlineAccess: account?.offline_access ?? false,
    recheckMinutes: account?.recheck_minutes ?? 15,
    graceHours: account?.grace_hours ?? 24,
    directoryClaim: account?.directory_claim ?? "",
  };
}

export function bodyOf(draft: OidcDraft): BodyInput<"settings.putOidc"> {
  return {
    name: draft.name.trim(),
    issuer: draft.issuer.trim(),
    client_id: draft.clientId.trim(),
    allowed_domains: [...draft.domains],
    second_factor_trusted: draft.secondFactorTrusted,
    scopes: [...draft.scopes],
    offline_access: draft.offlineAccess,
    directory_claim: draft.directoryClaim.trim() === "" ? null : draft.directoryClaim.trim(),
    // Otherwise these fields are hidden, and the gateway keeps the stored values.
    ...(draft.offlineAccess && draft.recheckMinutes !== "" ? { recheck_minutes: draft.recheckMinutes } : {}),
    ...(draft.offlineAccess && draft.graceHours !== "" ? { grace_hours: draft.graceHours } : {}),
    ...(draft.clientSecret === "" ? {} : { client_secret: draft.clientSecret }),
  };
}

/** The redirect URI, computed before the gateway reports it; null without a valid ID. */
export function callbackUrl(publicUrl: string, id: string): string | null {
  if (!idPattern.test(id)) return null;
  return `${new URL(publicUrl).origin}/api/auth/callback/${id}`;
}

export function idProblem(id: string, account: OidcAccount | null, taken: readonly OidcAccount[]): string | null {
  if (account !== null) return null;
  if (!idPattern.test(id)) return t("settings.oidc.idWrong");
  return taken.some((each) => each.id === id) ? t("settings.oidc.idExists") : null;
}

/** Splits the entered text into domains. Commas and a leading `@` are removed. */
export function domainsOf(typed: readonly string[]): readonly string[] {
  const domains = typed.flatMap((text) => text.split(/[\s,;]+/)).map((text) => text.replace(/^@/, "").toLowerCase());
  return [...new Set(domains.filter((domain) => domain !== ""))];
}

/** Validation errors by the gateway's field name. */
export function faultsOf(draft: OidcDraft, account: OidcAccount | null, taken: readonly OidcAccount[]): Faults {
  const id = draft.id === "" ? t("settings.oidc.idMissing") : idProblem(draft.id, account, taken);
  const isSecretMissing = draft.clientSecret === "" && (account === null || draft.issuer.trim() !== account.issuer);
  return {
    ...(draft.name.trim() === "" ? { name: t("settings.oidc.nameMissing") } : {}),
    ...(id === null ? {} : { account: id }),
    ...(URL.canParse(draft.issuer.trim()) ? {} : { issuer: t("settings.oidc.issuerWrong") }),
    ...(draft.clientId.trim() === "" ? { client_id: t("settings.oidc.clientIdMissing") } : {}),
    ...(isSecretMissing ? { client_secret: t("settings.oidc.clientSecretMissing") } : {}),
    ...(!draft.offlineAccess || isWithin(draft.recheckMinutes, recheckMinutesBounds)
      ? {}
      : { recheck_minutes: rulesText("rules.issuer.bounds", recheckMinutesBounds) }),
    ...(!draft.offlineAccess || isWithin(draft.graceHours, graceHoursBounds)
      ? {}
      : { grace_hours: rulesText("rules.issuer.bounds", graceHoursBounds) }),
  };
}

function isWithin(typed: number | "", { min, max }: typeof graceHoursBounds): boolean {
  return typed !== "" && Number.isInteger(typed) && typed >= min && typed <= max;
}
