import { Button } from "@mantine/core";
import { IconMapQuestion } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../components/empty-state.tsx";
import { PageFrame } from "../components/page-frame.tsx";
import { t } from "../language/areas/shell.ts";

export function PageMissing() {
  return (
    <PageFrame title={t("shell.missing.title")}>
      <EmptyState
        icon={<IconMapQuestion />}
        title={t("shell.missing.what")}
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>{t("shell.missing.home")}</Button>}
      >
        {t("shell.missing.help")}
      </EmptyState>
    </PageFrame>
  );
}
