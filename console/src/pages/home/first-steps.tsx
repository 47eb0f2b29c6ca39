import { Anchor, Button, Group, Skeleton, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { Section } from "../../parts/section.tsx";
import { Snippets } from "../../parts/snippets.tsx";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { useHidden } from "./use-hidden.ts";

interface Step {
  readonly id: string;
  readonly done: boolean;
  readonly title: string;
  readonly why: ReactNode;
  /** null: somebody with more rights has to do it. */
  readonly action: { readonly label: string; readonly link: LinkProps } | null;
}

/** From nothing to the first answer: what is done, what comes next, and a call ready to be sent. */
export function FirstSteps() {
  const { answer, user } = useSession();
  const workspace = useWorkspace();
  const [hidden, hide] = useHidden("first-steps");
  const { provider, model, key, call } = answer.first_steps;
  // Somebody who is no administrator cannot add a provider: once calls are made, they need no steps.
  const all = call && (user.administrator ? provider && model && key : true);
  if (all || (call && hidden)) return null;
  const steps: readonly Step[] = [
    {
      id: "provider",
      done: provider,
      title: "Add a provider",
      why: answer.demo
        ? "The built-in demo answers for now. Add an account of yours at OpenAI, Anthropic, or wherever your models run."
        : "An account at OpenAI, Anthropic, or wherever your models run.",
      action: user.administrator ? { label: "Add provider", link: { to: "/providers" } } : null,
    },
    {
      id: "model",
      done: model,
      title: "Serve a model",
      why: "A public name that programs ask for, and which providers answer to it.",
      action: user.administrator ? { label: "Add model", link: { to: "/models" } } : null,
    },
    {
      id: "key",
      done: key,
      title: "Make a key",
      why: "One for each program. It carries the limits and the budget.",
      action: workspace.may("member") ? { label: "Make key", link: { to: "/keys" } } : null,
    },
    {
      id: "call",
      done: call,
      title: "Make the first call",
      why: "From a shell, an SDK or a coding agent, as below; or try a model right here.",
      action: workspace.may("member") ? { label: "Open playground", link: { to: "/playground" } } : null,
    },
  ];
  const next = steps.find((step) => !step.done);
  return (
    <Section
      title={call ? "Almost set up" : "First steps"}
      description={`${steps.filter((step) => step.done).length} of ${steps.length} done.`}
      actions={
        call && (
          <Button variant="subtle" onClick={hide}>
            Hide
          </Button>
        )
      }
    >
      <ol className="plain-list">
        {steps.map((step, place) => (
          <StepRow key={step.id} step={step} place={place + 1} isNext={step === next} />
        ))}
      </ol>
      {!call && <ReadyCall />}
    </Section>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly place: number;
  readonly isNext: boolean;
}

function StepRow({ step: { done, title, why, action }, place, isNext }: StepRowProps) {
  return (
    <li className="first-step">
      <span className="first-step-mark" data-done={done || undefined}>
        {done ? <IconCheck size={15} aria-hidden /> : place}
      </span>
      <div className="grow">
        <Text fz="sm" fw={500}>
          {title}
          {done && <span className="unseen"> (done)</span>}
        </Text>
        <Text fz="xs" c="dimmed">
          {action === null && !done ? "An administrator does this." : why}
        </Text>
      </div>
      {action !== null && !done && (
        <Button
          variant={isNext ? "filled" : "default"}
          renderRoot={(props) => <Link {...action.link} {...props} />}
          flex="none"
        >
          {action.label}
        </Button>
      )}
    </li>
  );
}

/** The call that can be copied; with the name of a model that is there. */
function ReadyCall() {
  const { answer } = useSession();
  const models = useCall("models.list");
  if (models.error !== null) return null;
  if (models.data === undefined) return <Skeleton height={150} mt="md" />;
  const chats = models.data.data.filter((model) => model.type === "chat");
  const model = chats.find(({ name }) => !name.startsWith("demo-")) ?? chats[0];
  if (model === undefined) return null;
  return (
    <>
      <Group mt="md" mb={4} gap={6} fz="sm">
        <Text fz="sm" fw={600} component="h3">
          A call to {model.name}
        </Text>
        <Text fz="xs" c="dimmed">
          Put a key into SLUICE_API_KEY first;{" "}
          <Anchor fz="xs" renderRoot={(props) => <Link to="/keys" {...props} />}>
            a new key
          </Anchor>{" "}
          shows the same call with itself in it.
        </Text>
      </Group>
      <Snippets baseUrl={answer.public_url} apiKey={null} model={model.name} />
    </>
  );
}
