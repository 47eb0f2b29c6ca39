import { certificateEnds } from "#providers/index.ts";
import { readHealth } from "../models/model-view.ts";
import { type Check, type Finding, placeOf } from "./finding.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A spike: at least this many failures, this share of the requests, and this many times the share of the day before. */
const spikeFailuresMin = 10;
const spikeShare = 0.1;
const spikeRatio = 3;

/** Compares the error rate of this hour and the last one with the 24 hours before. */
export const checkErrors: Check = async ({ workspace, person, now }, { reports }) => {
  const from = Math.floor(now / hourMs) * hourMs - hourMs;
  const filter = {
    workspaceId: workspace?.id ?? null,
    by: workspace === null ? ("workspace" as const) : ("none" as const),
    stepMs: hourMs,
    ...(person === null ? {} : { personId: person }),
  };
  const [recent, usual] = await Promise.all([
    reports.usage({ ...filter, from, to: from + 2 * hourMs }),
    reports.usage({ ...filter, from: from - dayMs, to: from }),
  ]);
  const before = new Map(usual.lines.map(({ id, totals }) => [id, totals]));
  return recent.lines.flatMap(({ id, label, totals }): Finding[] => {
    const { requests, failed_requests: failed } = totals;
    const share = requests === 0 ? 0 : failed / requests;
    const earlier = before.get(id);
    const usualShare = earlier === undefined || earlier.requests === 0 ? 0 : earlier.failed_requests / earlier.requests;
    if (failed < spikeFailuresMin || share < spikeShare || share < spikeRatio * usualShare) return [];
    const severity = share >= 0.5 ? "critical" : "warning";
    const figures = { failed, requests, percent: percentOf(share), usual_percent: percentOf(usualShare) };
    // A report by workspace ends with the sum of the smaller ones.
    if (workspace === null && id === "") {
      const subject = { kind: "gateway", id: "", name: "" } as const;
      return [{ severity, code: "error_spike_others", params: figures, workspace: null, subject }];
    }
    const place = workspace ?? { id, slug: label };
    return [
      {
        ...{ severity, code: "error_spike", weight: share, params: { name: place.slug, ...figures } },
        ...{ workspace: placeOf(place), subject: { kind: "workspace", id: place.id, name: place.slug } },
      },
    ];
  });
};

function percentOf(share: number): number {
  return Number((share * 100).toPrecision(2));
}

/** Keys and service tokens that expire within a week. */
export const checkKeys: Check = async ({ workspace, person, now }, { controlStore, configSnapshot }) => {
  const keys = await controlStore.expiringKeys(
    { workspaceId: workspace?.id ?? null, ...(person === null ? {} : { userId: person }) },
    ...expirySpan(now),
    expiringMax,
  );
  return keys.flatMap(({ keyId, workspaceId, name, expiresAt }): Finding[] => {
    const home = configSnapshot().workspaces.get(workspaceId);
    if (home === undefined) return [];
    return [
      {
        ...{ severity: severityOf(expiresAt, now), code: "key_expiring", weight: -expiresAt },
        params: { name: `${home.slug}/${name}`, hours: hoursUntil(expiresAt, now) },
        ...{ workspace: placeOf(home), subject: { kind: "key", id: keyId, name } },
      },
    ];
  });
};

/** Admin tokens that expire within a week: every token for administrators, their own for others. */
export const checkTokens: Check = async ({ actor, now }, { people }) => {
  const ownerId = actor.administrator ? null : actor.userId;
  const tokens = await people.expiringAdminTokens(ownerId, ...expirySpan(now), expiringMax);
  return tokens.map(
    ({ id, name, workspace, expiresAt }): Finding => ({
      ...{ severity: severityOf(expiresAt, now), code: "admin_token_expiring", weight: -expiresAt },
      params: { name, hours: hoursUntil(expiresAt, now) },
      ...{ workspace, subject: { kind: "admin_token", id, name } },
    }),
  );
};

const expiryMs = 7 * dayMs;
const expiringMax = 200;

function expirySpan(now: number): [after: number, until: number] {
  return [now, now + expiryMs];
}

function severityOf(expiresAt: number, now: number): Finding["severity"] {
  return expiresAt - now <= dayMs ? "critical" : "warning";
}

function hoursUntil(expiresAt: number, now: number): number {
  return Math.ceil((expiresAt - now) / hourMs);
}

/** Providers with stopped or failing calls. */
export const checkProviders: Check = async (_scope, dependencies) => {
  const { providers, models } = dependencies.configSnapshot();
  const health = await readHealth(dependencies);
  const deployments = Map.groupBy(
    [...models.values()].flatMap((model) => model.deployments),
    ({ provider }) => provider.id,
  );
  return [...providers.values()].flatMap((provider): Finding[] => {
    const { id } = provider;
    const { state, last_hour: hour } = health.ofProvider(id, deployments.get(id)?.map((each) => each.id) ?? []);
    const about = { workspace: null, subject: { kind: "provider", id, name: id } } as const;
    if (!provider.enabled) return [];
    if (provider.unusable !== undefined) {
      return [{ ...about, severity: "critical", code: "secret_unreadable", params: { name: id } }];
    }
    if (state === "down") return [{ ...about, severity: "critical", code: "provider_down", params: { name: id } }];
    if (state === "unhealthy") {
      return [{ ...about, severity: "warning", code: "provider_unhealthy", params: { name: id } }];
    }
    if (state !== "degraded" || hour === null) return [];
    const params = { name: id, ...hour };
    return [{ ...about, severity: "warning", code: "provider_errors", params, weight: hour.failed }];
  });
};

const certificateSoonMs = 30 * dayMs;

/** Certificates that expire within 30 days or have expired: of the gateway, and those for providers. */
export const checkCertificates: Check = async ({ now }, { configSnapshot, certificateEndsAt }) => {
  const findings: Finding[] = [];
  const note = (endsAt: number, subject: Finding["subject"]) => {
    if (endsAt - now > certificateSoonMs) return;
    findings.push({
      ...{ severity: endsAt - now <= expiryMs ? "critical" : "warning", workspace: null, subject, weight: -endsAt },
      ...(endsAt <= now
        ? { code: "certificate_expired", params: { name: subject.name } }
        : { code: "certificate_expiring", params: { name: subject.name, hours: hoursUntil(endsAt, now) } }),
    });
  };
  const own = certificateEndsAt();
  if (own !== null) note(own, { kind: "gateway", id: "", name: "Sluice" });
  for (const provider of configSnapshot().providers.values()) {
    const ends = provider.enabled ? certificateEnds(provider) : null;
    if (ends !== null) note(ends, { kind: "provider", id: provider.id, name: provider.id });
  }
  return findings;
};
