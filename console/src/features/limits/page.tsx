import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/limits.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { LimitUsageTab } from "./limit-usage-tab.tsx";
import { PolicyList } from "./policies/policy-list.tsx";

/** Usage of all limits and budgets, and budget policies. */
export default function LimitsPage() {
  const { slug, path, none } = useWorkspace();
  return (
    <PageFrame title={t("limits.title")} description={t("limits.description")}>
      <LimitUsageTab />
      {!none && <PolicyList key={path} workspace={slug} />}
    </PageFrame>
  );
}
