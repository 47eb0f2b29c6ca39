import { useDraggable } from "@dnd-kit/core";
import { ActionIcon, NumberInput, Switch, Tooltip } from "@mantine/core";
import type { Health } from "@sluice/contract";
import { IconArrowDown, IconArrowUp, IconGripVertical, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { formatDuration, formatShare } from "../../../client/format.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/models.ts";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import type { ModelType } from "../../catalog/price-words.ts";
import { CapabilitiesButton } from "./capabilities-button.tsx";
import type { Placed } from "./priorities.ts";

interface DeploymentCardProps {
  readonly one: Placed;
  /** null: it is not saved yet. */
  readonly health: Health | null;
  /** Its provider is disabled, so it gets no requests. */
  readonly providerOff: boolean;
  /** Its share of the requests of its priority, 0 to 1; null: it is the only one. */
  readonly share: number | null;
  readonly type: ModelType;
  readonly disabled: boolean;
  readonly onChange: (part: Partial<Placed>) => void;
  /** null: it is already first. */
  readonly onEarlier: (() => void) | null;
  readonly onLater: (() => void) | null;
  /** null: it is the only one. */
  readonly onRemove: (() => void) | null;
}

const weightMax = 1_000_000;

/** A card for one deployment. */
export function DeploymentCard(props: DeploymentCardProps) {
  const { one, health, providerOff, share, disabled, onChange } = props;
  const { setNodeRef, setActivatorNodeRef, attributes, listeners, isDragging } = useDraggable({
    id: one.key,
    disabled,
  });
  const name = `${one.provider} ${one.upstreamModel}`;
  return (
    <li
      ref={setNodeRef}
      className="deployment"
      data-key={one.key}
      data-off={!one.enabled || undefined}
      data-dragging={isDragging || undefined}
    >
      <div className="deployment-head">
        {!disabled && (
          <button
            ref={setActivatorNodeRef}
            type="button"
            className="deployment-handle"
            {...attributes}
            {...listeners}
            aria-label={t("models.deployments.move", { name })}
          >
            <IconGripVertical size={16} aria-hidden />
          </button>
        )}
        <div className="grow">
          <Link
            to="/providers/$provider"
            params={{ provider: one.provider }}
            search={{}}
            className="deployment-name text-link break"
          >
            {one.provider}
          </Link>
          <div className="aside break">{one.upstreamModel}</div>
        </div>
        {!disabled && (
          <Switch
            size="xs"
            aria-label={t("models.deployments.use", { name })}
            checked={one.enabled}
            onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
          />
        )}
      </div>
      <div className="deployment-state">
        <State one={one} health={health} providerOff={providerOff} />
        {health !== null && <span className="aside">{figuresOf(health)}</span>}
      </div>
      {share !== null && (
        <Weight value={one.weight} share={share} disabled={disabled} onChange={(weight) => onChange({ weight })} />
      )}
      {!disabled && <Foot {...props} name={name} />}
    </li>
  );
}

interface WeightProps {
  readonly value: number;
  readonly share: number;
  readonly disabled: boolean;
  readonly onChange: (weight: number) => void;
}

function Weight({ value, share, disabled, onChange }: WeightProps) {
  return (
    <div className="deployment-share">
      <NumberInput
        label={t("models.deployments.weight")}
        size="xs"
        w={92}
        min={0}
        max={weightMax}
        allowDecimal={false}
        allowNegative={false}
        clampBehavior="strict"
        disabled={disabled}
        value={value}
        onChange={(next) => typeof next === "number" && onChange(next)}
      />
      <div className="grow">
        <div className="deployment-percent">{t("models.deployments.share", { share: formatShare(share) })}</div>
        <div className="share-track share-wide" aria-hidden="true">
          <span className="share-bar" style={{ width: `${share * 100}%` }} />
        </div>
      </div>
    </div>
  );
}

/** Buttons to move, describe and remove it. */
function Foot({
  one,
  name,
  type,
  onChange,
  onEarlier,
  onLater,
  onRemove,
}: DeploymentCardProps & { readonly name: string }) {
  const isOnly = onRemove === null;
  return (
    <div className="deployment-foot">
      <Move label={t("models.earlier", { name })} place="earlier" onMove={onEarlier} icon={<IconArrowUp size={15} />} />
      <Move label={t("models.later", { name })} place="later" onMove={onLater} icon={<IconArrowDown size={15} />} />
      {type === "video" && (
        <CapabilitiesButton
          name={name}
          value={one.capabilities}
          onChange={(capabilities) => onChange({ capabilities })}
        />
      )}
      <span className="grow" />
      <Tooltip label={isOnly ? t("models.deployments.atLeastOne") : t("models.remove")}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t("models.removeNamed", { name })}
          {...(isOnly ? { "data-disabled": true, "aria-disabled": true } : {})}
          onClick={() => onRemove?.()}
        >
          <IconX size={15} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

function State({ one, health, providerOff }: Pick<DeploymentCardProps, "one" | "health" | "providerOff">) {
  if (providerOff) {
    return (
      <StatusBadge
        status="disabled"
        label={t("models.deployments.providerDisabled")}
        hint={t("models.deployments.providerDisabledHelp")}
      />
    );
  }
  if (health === null)
    return <StatusBadge status="new" label={t("models.deployments.new")} hint={t("models.deployments.newHelp")} />;
  return <HealthBadge health={health} enabled={one.enabled} />;
}

function figuresOf({ latency_ms, last_hour }: Health): string {
  return [latency_ms === null ? null : formatDuration(latency_ms), hourWords(last_hour)]
    .filter((part) => part !== null)
    .join(" · ");
}

function hourWords(hour: Health["last_hour"]): string | null {
  if (hour === null || hour.attempts === 0) return null;
  return hour.failed === 0
    ? t("models.deployments.lastHour", { attempts: hour.attempts })
    : t("models.deployments.lastHourFailed", { attempts: hour.attempts, failed: hour.failed });
}

interface MoveProps {
  readonly label: string;
  readonly place: "earlier" | "later";
  readonly onMove: (() => void) | null;
  readonly icon: React.ReactNode;
}

function Move({ label, place, onMove, icon }: MoveProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className="bare-when-disabled"
      aria-label={label}
      data-move={place}
      disabled={onMove === null}
      onClick={() => onMove?.()}
    >
      {icon}
    </ActionIcon>
  );
}
