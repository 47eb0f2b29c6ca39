import type { AuditAction, AuditRow } from "@sluice/contract";
import type { Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/audit.ts";
import { audit } from "../../language/en/audit.ts";
import { remarks } from "../../language/remark.ts";

interface ActionWord {
  readonly label: string;
  readonly tone: Tone;
}

/** Unknown actions of a newer gateway are shown by their code. */
const words: Readonly<Record<AuditAction, ActionWord>> = {
  create: { label: t("audit.action.create"), tone: "good" },
  update: { label: t("audit.action.update"), tone: "busy" },
  remove: { label: t("audit.action.remove"), tone: "bad" },
  "set-price": { label: t("audit.action.set-price"), tone: "busy" },
  rotate: { label: t("audit.action.rotate"), tone: "warn" },
  revoke: { label: t("audit.action.revoke"), tone: "bad" },
  cancel: { label: t("audit.action.cancel"), tone: "warn" },
  approve: { label: t("audit.action.approve"), tone: "good" },
  decline: { label: t("audit.action.decline"), tone: "bad" },
  withdraw: { label: t("audit.action.withdraw"), tone: "off" },
  collect: { label: t("audit.action.collect"), tone: "good" },
  "take-over": { label: t("audit.action.take-over"), tone: "off" },
  release: { label: t("audit.action.release"), tone: "off" },
  suspend: { label: t("audit.action.suspend"), tone: "warn" },
  resume: { label: t("audit.action.resume"), tone: "good" },
  view: { label: t("audit.action.view"), tone: "warn" },
  download: { label: t("audit.action.download"), tone: "warn" },
  "reset-password": { label: t("audit.action.reset-password"), tone: "warn" },
  "signed-in": { label: t("audit.action.signed-in"), tone: "off" },
  "signed-out": { label: t("audit.action.signed-out"), tone: "off" },
  "sign-in-refused": { label: t("audit.action.sign-in-refused"), tone: "warn" },
  "sign-in-locked": { label: t("audit.action.sign-in-locked"), tone: "bad" },
  "sessions-ended": { label: t("audit.action.sessions-ended"), tone: "warn" },
  "user-created": { label: t("audit.action.user-created"), tone: "good" },
  "password-changed": { label: t("audit.action.password-changed"), tone: "warn" },
  "passkey-added": { label: t("audit.action.passkey-added"), tone: "warn" },
  "passkey-removed": { label: t("audit.action.passkey-removed"), tone: "warn" },
  "two-factor-enabled": { label: t("audit.action.two-factor-enabled"), tone: "good" },
  "two-factor-disabled": { label: t("audit.action.two-factor-disabled"), tone: "bad" },
  "backup-codes-made": { label: t("audit.action.backup-codes-made"), tone: "warn" },
  "oidc-connected": { label: t("audit.action.oidc-connected"), tone: "good" },
  "oidc-disconnected": { label: t("audit.action.oidc-disconnected"), tone: "warn" },
};

export function actionWord(action: string): ActionWord {
  return Object.hasOwn(words, action) ? words[action as AuditAction] : unknown(action);
}

function unknown(action: string): ActionWord {
  const text = action.replaceAll("-", " ");
  return { label: text.charAt(0).toUpperCase() + text.slice(1), tone: "off" };
}

const kindWords = remarks(t, "audit.kind", audit.kind);

/** "API key acme/ci"; unknown target types are shown as logged. */
export function targetWords({ object, target }: Pick<AuditRow, "object" | "target">): string {
  if (target === null) return object;
  const kind = kindWords({ code: target.kind }, "");
  if (kind === "") return object;
  return target.name === "" ? kind : t("audit.named", { kind, name: target.name });
}

/** All actions, plus the selected one if it is unknown. */
export function actionChoices(chosen: string) {
  const names: readonly string[] = Object.keys(words);
  const all = chosen === "" || names.includes(chosen) ? names : [...names, chosen];
  return all.map((value) => ({ value, label: actionWord(value).label }));
}
