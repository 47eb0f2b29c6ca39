import { type ConsoleKey, isKeyOf } from "@sluice/contract";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";

/** Why the current user may not change a key; null if they may. Admins may change any key, members their own (see `isKeyOf`). */
export function useKeyLock(key: ConsoleKey | undefined): string | null {
  const { user, may } = useSession();
  if (key === undefined) return null;
  if (key.managed_by === "file") return t("keys.lock.file");
  const { slug } = key.workspace;
  if (may("admin", slug)) return null;
  if (!may("member", slug)) return t("keys.lock.viewer");
  return isKeyOf(key, user.id) ? null : t("keys.lock.other");
}
