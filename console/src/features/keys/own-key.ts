import type { ConsoleKey } from "@sluice/contract";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";

/** Why the one who looks may not change a key; null: they may. An admin changes any, a member their own. */
export function useKeyLock(key: ConsoleKey | undefined): string | null {
  const { user, may } = useSession();
  if (key === undefined) return null;
  if (key.managed_by === "file") return t("keys.lock.file");
  const { slug } = key.workspace;
  if (may("admin", slug)) return null;
  if (!may("member", slug)) return t("keys.lock.viewer");
  return key.created_by?.id === user.id ? null : t("keys.lock.other");
}
