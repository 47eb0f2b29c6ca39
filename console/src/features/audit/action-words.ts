import type { Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/audit.ts";

interface ActionWord {
  readonly label: string;
  readonly tone: Tone;
}

/** What the log knows to happen. A later gateway may know more; those are shown under their own name. */
const words: Readonly<Record<string, ActionWord>> = {
  create: { label: t("audit.action.create"), tone: "good" },
  update: { label: t("audit.action.update"), tone: "busy" },
  remove: { label: t("audit.action.remove"), tone: "bad" },
  "set-price": { label: t("audit.action.setPrice"), tone: "busy" },
  rotate: { label: t("audit.action.rotate"), tone: "warn" },
  revoke: { label: t("audit.action.revoke"), tone: "bad" },
  cancel: { label: t("audit.action.cancel"), tone: "warn" },
  "take-over": { label: t("audit.action.takeOver"), tone: "off" },
  release: { label: t("audit.action.release"), tone: "off" },
  view: { label: t("audit.action.view"), tone: "warn" },
  download: { label: t("audit.action.download"), tone: "warn" },
  "reset-password": { label: t("audit.action.resetPassword"), tone: "warn" },
  "signed-in": { label: t("audit.action.signedIn"), tone: "off" },
  "signed-out": { label: t("audit.action.signedOut"), tone: "off" },
  "sign-in-refused": { label: t("audit.action.signInRefused"), tone: "warn" },
  "sign-in-locked": { label: t("audit.action.signInLocked"), tone: "bad" },
  "sessions-ended": { label: t("audit.action.sessionsEnded"), tone: "warn" },
  "user-created": { label: t("audit.action.userCreated"), tone: "good" },
  "password-changed": { label: t("audit.action.passwordChanged"), tone: "warn" },
  "passkey-added": { label: t("audit.action.passkeyAdded"), tone: "warn" },
  "passkey-removed": { label: t("audit.action.passkeyRemoved"), tone: "warn" },
  "two-factor-enabled": { label: t("audit.action.twoFactorOn"), tone: "good" },
  "two-factor-disabled": { label: t("audit.action.twoFactorOff"), tone: "bad" },
  "backup-codes-made": { label: t("audit.action.backupCodes"), tone: "warn" },
};

export function actionWord(action: string): ActionWord {
  return Object.hasOwn(words, action) ? (words[action] ?? unknown(action)) : unknown(action);
}

function unknown(action: string): ActionWord {
  const text = action.replaceAll("-", " ");
  return { label: text.charAt(0).toUpperCase() + text.slice(1), tone: "off" };
}

/** Every known action, and the chosen one too if it is another. */
export function actionChoices(chosen: string) {
  const names = Object.keys(words);
  const all = chosen === "" || names.includes(chosen) ? names : [...names, chosen];
  return all.map((value) => ({ value, label: actionWord(value).label }));
}
