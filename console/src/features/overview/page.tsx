import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PageFrame } from "../../components/page-frame.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { AttentionStrip } from "../attention/attention-strip.tsx";
import { DriversSection } from "./drivers-section.tsx";
import { FiguresRow } from "./figures-row.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { MonthSection } from "./month-section.tsx";

export default function HomePage() {
  const workspace = useWorkspace();
  const { answer } = useSession();
  if (workspace.none) return <NoWorkspace />;
  // Without requests there are no figures, so the first steps are shown.
  const begun = answer.first_steps.call;
  return (
    <PageFrame title={t("overview.title")} description={workspace.all ? t("overview.allWorkspaces") : undefined}>
      <FirstSteps />
      <AttentionStrip />
      {begun && (
        <>
          <FiguresRow />
          <MonthSection />
          <DriversSection />
        </>
      )}
    </PageFrame>
  );
}

/** Explains to users without a workspace how to join one. */
function NoWorkspace() {
  const { email } = useSession().user;
  const steps = [
    [t("overview.noWorkspace.ask"), t("overview.noWorkspace.askHelp", { email })],
    [t("overview.noWorkspace.accept"), t("overview.noWorkspace.acceptHelp")],
    [t("overview.noWorkspace.secure"), t("overview.noWorkspace.secureHelp")],
  ] as const;
  return (
    <PageFrame title={t("overview.title")}>
      <Section
        title={t("overview.noWorkspace.title")}
        description={t("overview.noWorkspace.help")}
        actions={
          <Button variant="default" renderRoot={(props) => <Link to="/profile" {...props} />}>
            {t("overview.noWorkspace.profile")}
          </Button>
        }
      >
        <ol className="plain-list" aria-label={t("overview.noWorkspace.steps")}>
          {steps.map(([title, help], place) => (
            <li key={title} className="first-step">
              <span className="first-step-mark">{place + 1}</span>
              <div className="grow">
                <Text fz="sm" fw={500}>
                  {title}
                </Text>
                <Text fz="xs" c="dimmed">
                  {help}
                </Text>
              </div>
            </li>
          ))}
        </ol>
      </Section>
    </PageFrame>
  );
}
