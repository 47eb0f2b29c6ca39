import { Alert, Tooltip } from "@mantine/core";
import { IconLock, IconPlayerPause } from "@tabler/icons-react";
import { t } from "../language/areas/components.ts";

type Owner = "file" | "console" | "suspended";

/** The badge of an object that the config file manages or managed. Renders nothing for objects of the console. */
export function ManagedByFile({ by }: { readonly by: Owner }) {
  if (by === "console") return null;
  const isSuspended = by === "suspended";
  return (
    <Tooltip label={isSuspended ? t("components.file.suspendedHint") : t("components.file.hint")}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the explanation must be reachable by keyboard. */}
      <span className="managed above-row" tabIndex={0}>
        {isSuspended ? <IconPlayerPause size={12} aria-hidden /> : <IconLock size={12} aria-hidden />}
        {isSuspended ? t("components.file.suspended") : t("components.file.badge")}
      </span>
    </Tooltip>
  );
}

/** The same as a sentence, above a page with a locked form. */
export function ManagedByFileNote({ by }: { readonly by: Owner }) {
  if (by === "console") return null;
  const isSuspended = by === "suspended";
  return (
    <Alert variant="light" color="gray" icon={isSuspended ? <IconPlayerPause size={16} /> : <IconLock size={16} />}>
      {isSuspended ? t("components.file.suspendedNote") : t("components.file.note")}
    </Alert>
  );
}
