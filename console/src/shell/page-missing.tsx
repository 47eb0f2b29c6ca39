import { Button } from "@mantine/core";
import { IconMapQuestion } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../components/empty-state.tsx";
import { PageFrame } from "../components/page-frame.tsx";
import { t } from "../language/areas/shell.ts";

export function PageMissing() {
  return (
    <PageFrame title={t("shell.noSuchPage")}>
      <EmptyState
        icon={<IconMapQuestion />}
        title={t("shell.thereIsNothingAtThis")}
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>{t("shell.goToTheFirstPage")}</Button>}
      >
        {t("shell.theAddressMayBeMistyped")}
      </EmptyState>
    </PageFrame>
  );
}
