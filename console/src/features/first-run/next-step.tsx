import { Button, CloseButton, Group, Text } from "@mantine/core";
import { IconCircleCheck, IconFlag } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/first-run.ts";
import { useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { isHere, nextStep } from "./steps.ts";
import { useFirstSteps } from "./use-first-steps.ts";
import { useHidden } from "./use-hidden.ts";

/** Polls often enough to notice the first answer at once, and stops then. */
const everyMs = 3_000;

/** A line above every page during the setup of a new installation: progress, the next step, and a final message. */
export default function NextStep({ pathname }: { readonly pathname: string }) {
  const { answer } = useSession();
  const { call } = answer.first_steps;
  const [hidden, hide] = useHidden("next-step");
  if (hidden || pathname === "/") return null;
  return call ? <Done onClose={hide} /> : <Next pathname={pathname} onClose={hide} />;
}

interface NextProps {
  readonly pathname: string;
  readonly onClose: () => void;
}

function Next({ pathname, onClose }: NextProps) {
  useCall("session.show", { everyMs });
  const { steps } = useFirstSteps();
  const search = useUrlSearch();
  const next = nextStep(steps);
  if (next === null || next.action === null) return null;
  const place = steps.indexOf(next) + 1;
  const here = isHere(next, pathname, search);
  return (
    <Line
      icon={<IconFlag size={16} stroke={1.6} aria-hidden />}
      onClose={onClose}
      action={
        !here && (
          <Button variant="default" renderRoot={(props) => <Link {...next.action?.link} {...props} />}>
            {next.action.label}
          </Button>
        )
      }
    >
      <b>{t("firstRun.stepOf", { place, count: steps.length, title: next.title })}</b>{" "}
      {here ? hereWords[next.id] : next.why}
    </Line>
  );
}

const hereWords = {
  provider: t("firstRun.here.provider"),
  model: t("firstRun.here.model"),
  key: t("firstRun.here.key"),
  call: t("firstRun.here.call"),
} as const;

function Done({ onClose }: { readonly onClose: () => void }) {
  return (
    <Line
      icon={<IconCircleCheck size={16} stroke={1.6} aria-hidden />}
      onClose={onClose}
      action={
        <Button variant="default" onClick={onClose} renderRoot={(props) => <Link to="/requests" {...props} />}>
          {t("firstRun.viewRequests")}
        </Button>
      }
    >
      <b>{t("firstRun.done.title")}</b> {t("firstRun.done.help")}
    </Line>
  );
}

interface LineProps {
  readonly icon: ReactNode;
  readonly action: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function Line({ icon, action, onClose, children }: LineProps) {
  return (
    <aside className="next-step" aria-label={t("firstRun.label")}>
      {icon}
      <Text fz="sm" className="grow" role="status">
        {children}
      </Text>
      <Group gap={4} wrap="nowrap">
        {action}
        <CloseButton size="sm" aria-label={t("firstRun.hide")} onClick={onClose} />
      </Group>
    </aside>
  );
}
