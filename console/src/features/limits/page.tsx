import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/limits.ts";
import { t as rehearseWords } from "../../language/areas/rehearse.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { LimitUsageTab } from "./limit-usage-tab.tsx";
import { PolicyList } from "./policies/policy-list.tsx";

/** Usage of all limits and budgets, and budget policies. */
export default function LimitsPage() {
  const { slug, path, none, may } = useWorkspace();
  return (
    <PageFrame
      title={t("limits.title")}
      description={t("limits.description")}
      actions={
        may("admin") && (
          <Button variant="default" renderRoot={(props) => <Link to="/rehearsals" {...props} />}>
            {rehearseWords("rehearse.list")}
          </Button>
        )
      }
    >
      <LimitUsageTab />
      {!none && <PolicyList key={path} workspace={slug} />}
    </PageFrame>
  );
}
