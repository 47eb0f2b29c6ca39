import { Anchor, Button, Group, Skeleton, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { Section } from "../../components/section.tsx";
import { Snippets } from "../../components/snippets.tsx";
import { Rich, t } from "../../language/areas/overview.ts";
import { useSession } from "../../session/session-context.tsx";
import { isDemoName } from "../first-run/demo-name.ts";
import { nextStep } from "../first-run/steps.ts";
import { useFirstSteps } from "../first-run/use-first-steps.ts";
import { useHidden } from "../first-run/use-hidden.ts";
import { MemberSteps } from "./member-steps-section.tsx";
import { StepRow } from "./step-row.tsx";

/** From an empty gateway to the first answer: finished steps, the next step, and a prepared request. */
export function FirstSteps() {
  const { answer, user } = useSession();
  const { steps, goOnWithDemo } = useFirstSteps();
  const [hidden, hide] = useHidden("first-steps");
  const { provider, model, key, call } = answer.first_steps;
  const all = call && provider && model && key;
  // Only administrators can add a provider: members get their steps once there are requests.
  if (call && !user.administrator) return <MemberSteps />;
  if (all || (call && hidden)) return null;
  const next = nextStep(steps);
  return (
    <Section
      title={call ? t("overview.steps.almost") : t("overview.steps.title")}
      description={t("overview.steps.count", { done: steps.filter((step) => step.done).length, total: steps.length })}
      actions={
        call && (
          <Button variant="subtle" onClick={hide}>
            {t("overview.steps.hide")}
          </Button>
        )
      }
    >
      <ol className="plain-list">
        {steps.map((step, place) => (
          <StepRow
            key={step.id}
            step={step}
            place={place + 1}
            isNext={step === next}
            onSkip={step.id === "provider" && !step.done ? goOnWithDemo : null}
          />
        ))}
      </ol>
      {!call && <ReadyCall />}
    </Section>
  );
}

/** The sample call, with the name of an existing model. */
function ReadyCall() {
  const { answer } = useSession();
  const models = useCall("models.list");
  if (models.error !== null) return null;
  if (models.data === undefined) return <Skeleton height={150} mt="md" />;
  const chats = models.data.data.filter((model) => model.type === "chat");
  const model = chats.find(({ name }) => !isDemoName(name)) ?? chats[0];
  if (model === undefined) return null;
  return (
    <>
      <Group mt="md" mb={4} gap={6} fz="sm">
        <Text fz="sm" fw={600} component="h3">
          {t("overview.steps.example", { name: model.name })}
        </Text>
        <Text fz="xs" c="dimmed">
          <Rich
            text="overview.steps.exampleHelp"
            tags={{
              link: (inside) => (
                <Anchor
                  fz="xs"
                  underline="always"
                  renderRoot={(props) => <Link to="/keys" search={{ create: "1" }} {...props} />}
                >
                  {inside}
                </Anchor>
              ),
            }}
          />
        </Text>
      </Group>
      <Snippets baseUrl={answer.public_url} apiKey={null} model={model.name} />
    </>
  );
}
