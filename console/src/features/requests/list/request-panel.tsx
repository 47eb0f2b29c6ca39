import { ActionIcon, Button, Group, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { RequestDetail } from "@sluice/contract";
import { IconChevronDown, IconChevronUp, IconExternalLink, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useEffectEvent } from "react";
import { useCall } from "../../../api/use-call.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { When } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { useEscape } from "../../../components/use-escape.ts";
import { t } from "../../../language/areas/requests.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { OpenInPlayground } from "../detail/open-in-playground.tsx";
import { RequestBody } from "../detail/request-body.tsx";
import { RequestWaiting } from "../detail/request-waiting.tsx";
import { outcomeHints, outcomeWords } from "../outcome.tsx";

interface RequestPanelProps {
  readonly request: string;
  /** null: there is none. */
  readonly onPrevious: (() => void) | null;
  readonly onNext: (() => void) | null;
  readonly onClose: () => void;
}

/** Viewing a captured body adds an audit entry, so requests that are only passed while walking are not read. */
const restMs = 150;
const settledMs = 600_000;

/** A request next to the list. j and k, or the arrow keys, go to the next and the previous one; Escape closes it. */
export function RequestPanel({ request, onPrevious, onNext, onClose }: RequestPanelProps) {
  const workspace = useWorkspace();
  const [shown] = useDebouncedValue(request, restMs);
  const call = useCall("requests.show", { params: { workspace: workspace.path, request: shown }, staleMs: settledMs });
  useEscape(true, onClose);
  useWalk(onPrevious, onNext);
  const detail = shown === request ? call.data : undefined;
  return (
    <section className="request-panel" aria-label={t("requests.panel.label")}>
      <Group className="request-panel-head" justify="space-between" wrap="nowrap" gap="xs">
        <Group gap="xs" className="request-panel-title">
          {detail !== undefined && <Outcome detail={detail} />}
          <CopyText value={request} label={t("requests.detail.copyId")} />
          {detail !== undefined && (
            <Text span fz="xs" c="dimmed">
              <When at={detail.at} />
            </Text>
          )}
        </Group>
        <Group gap={4} wrap="nowrap">
          <Step label={t("requests.panel.previous")} onClick={onPrevious}>
            <IconChevronUp size={16} aria-hidden />
          </Step>
          <Step label={t("requests.panel.next")} onClick={onNext}>
            <IconChevronDown size={16} aria-hidden />
          </Step>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconExternalLink size={14} aria-hidden />}
            renderRoot={(props) => (
              <Link
                to="/requests/$request"
                params={{ request }}
                search={workspace.slug === null ? {} : { workspace: workspace.slug }}
                {...props}
              />
            )}
          >
            {t("requests.panel.page")}
          </Button>
          <Step label={t("requests.panel.close")} onClick={onClose}>
            <IconX size={16} aria-hidden />
          </Step>
        </Group>
      </Group>
      <div className="request-panel-body">
        {detail !== undefined ? (
          <>
            <div className="request-panel-actions">
              <OpenInPlayground detail={detail} />
            </div>
            <RequestBody detail={detail} />
          </>
        ) : call.error !== null && shown === request ? (
          <ProblemAlert problem={call.error} onRetry={() => void call.refetch()} />
        ) : (
          <RequestWaiting />
        )}
      </div>
    </section>
  );
}

function Outcome({ detail: { attempts } }: { readonly detail: RequestDetail }) {
  const outcome = attempts.at(-1)?.outcome;
  if (outcome === undefined) return null;
  return <StatusBadge status={outcome} label={outcomeWords[outcome]} hint={outcomeHints[outcome]} />;
}

interface StepProps {
  readonly label: string;
  readonly onClick: (() => void) | null;
  readonly children: ReactNode;
}

function Step({ label, onClick, children }: StepProps) {
  return (
    <ActionIcon
      variant="default"
      size={26}
      aria-label={label}
      title={label}
      disabled={onClick === null}
      onClick={() => onClick?.()}
    >
      {children}
    </ActionIcon>
  );
}

function useWalk(onPrevious: (() => void) | null, onNext: (() => void) | null): void {
  const walk = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
    if (document.querySelector("[aria-modal=true]") !== null || !walksFrom(event.target)) return;
    const step = /^(?:j|ArrowDown)$/.test(event.key) ? onNext : /^(?:k|ArrowUp)$/.test(event.key) ? onPrevious : null;
    if (step === null) return;
    event.preventDefault();
    step();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => walk(event);
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Not while the user types, or moves in a menu or a list of choices. */
function walksFrom(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    !target.isContentEditable &&
    target.closest("input, textarea, select, [role=menu], [role=listbox], [role=radiogroup]") === null
  );
}
