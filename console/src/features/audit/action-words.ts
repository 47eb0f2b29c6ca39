import type { Tone } from "../../components/status-badge.tsx";

interface ActionWord {
  readonly label: string;
  readonly tone: Tone;
}

/** What the log knows to happen. A later gateway may know more; those are shown under their own name. */
const words: Readonly<Record<string, ActionWord>> = {
  create: { label: "Created", tone: "good" },
  update: { label: "Changed", tone: "busy" },
  remove: { label: "Removed", tone: "bad" },
  "set-price": { label: "Set price", tone: "busy" },
  rotate: { label: "New secret", tone: "warn" },
  revoke: { label: "Revoked", tone: "bad" },
  cancel: { label: "Cancelled", tone: "warn" },
  "take-over": { label: "Taken over by the file", tone: "off" },
  release: { label: "Released by the file", tone: "off" },
  view: { label: "Looked at", tone: "warn" },
  download: { label: "Downloaded", tone: "warn" },
  "reset-password": { label: "Reset password", tone: "warn" },
  "signed-in": { label: "Signed in", tone: "off" },
  "signed-out": { label: "Signed out", tone: "off" },
  "sign-in-refused": { label: "Sign-in refused", tone: "warn" },
  "sign-in-locked": { label: "Sign-in locked", tone: "bad" },
  "sessions-ended": { label: "Sessions ended", tone: "warn" },
  "user-created": { label: "User made", tone: "good" },
  "password-changed": { label: "Password changed", tone: "warn" },
  "passkey-added": { label: "Passkey added", tone: "warn" },
  "passkey-removed": { label: "Passkey removed", tone: "warn" },
  "two-factor-enabled": { label: "Two-factor on", tone: "good" },
  "two-factor-disabled": { label: "Two-factor off", tone: "bad" },
  "backup-codes-made": { label: "Backup codes made", tone: "warn" },
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
