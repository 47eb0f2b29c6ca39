import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/limits.ts";
import { LimitUsageTab } from "./limit-usage-tab.tsx";

/** Usage of all limits and budgets. */
export default function LimitsPage() {
  return (
    <PageFrame title={t("limits.title")} description={t("limits.description")}>
      <LimitUsageTab />
    </PageFrame>
  );
}
