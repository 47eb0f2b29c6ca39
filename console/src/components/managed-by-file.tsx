import { Alert, Tooltip } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { t } from "../language/areas/components.ts";

/** The lock beside the name of something that the config file owns. Nothing for what the console owns. */
export function ManagedByFile({ by }: { readonly by: "file" | "console" }) {
  if (by !== "file") return null;
  return (
    <Tooltip label={t("components.file.hint")}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the explanation must be reachable by keyboard. */}
      <span className="managed above-row" tabIndex={0}>
        <IconLock size={12} aria-hidden />
        {t("components.file.badge")}
      </span>
    </Tooltip>
  );
}

/** The same as a sentence above a page whose form is locked. */
export function ManagedByFileNote({ by }: { readonly by: "file" | "console" }) {
  if (by !== "file") return null;
  return (
    <Alert variant="light" color="gray" icon={<IconLock size={16} />}>
      {t("components.file.note")}
    </Alert>
  );
}
