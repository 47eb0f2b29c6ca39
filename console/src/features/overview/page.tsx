import { Button } from "@mantine/core";
import { IconBuilding } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../components/empty-state.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { TimeRange } from "../../components/time-range.tsx";
import { t } from "../../language/areas/overview.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { FirstSteps } from "./first-steps.tsx";
import { LiveRequests } from "./live-requests.tsx";
import { UsageFiguresRow } from "./usage-figures-row.tsx";
import { UsageSection } from "./usage-section.tsx";

export default function HomePage() {
  const workspace = useWorkspace();
  const { answer } = useSession();
  if (workspace.none) return <NoWorkspace />;
  // Before the first call there is nothing to draw; what comes first is told instead.
  const begun = answer.first_steps.call;
  return (
    <PageFrame
      title={t("overview.title")}
      description={workspace.all ? t("overview.allWorkspaces") : undefined}
      actions={begun && <TimeRange />}
    >
      <FirstSteps />
      {begun && (
        <>
          <UsageFiguresRow />
          <UsageSection />
        </>
      )}
      <LiveRequests key={workspace.path} />
    </PageFrame>
  );
}

function NoWorkspace() {
  return (
    <PageFrame title={t("overview.title")}>
      <EmptyState
        icon={<IconBuilding />}
        title={t("overview.noWorkspace.title")}
        action={
          <Button variant="default" renderRoot={(props) => <Link to="/profile" {...props} />}>
            {t("overview.noWorkspace.profile")}
          </Button>
        }
      >
        {t("overview.noWorkspace.help")}
      </EmptyState>
    </PageFrame>
  );
}
