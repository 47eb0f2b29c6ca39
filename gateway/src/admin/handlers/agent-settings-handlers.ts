import { checkAgentSettings, type SettingsRemark } from "@sluice/contract";
import { Failure } from "#core/index.ts";
import type { AgentSettingsNow, AgentSettingsVersion, AgentStore } from "#directory/index.ts";
import type { AgentSettingsOf } from "#identity/index.ts";
import { type CallsOriginOptions, callsOrigin } from "./calls-origin.ts";
import { type Handlers, oneWorkspace } from "./handler.ts";

export interface AgentSettingsHandlerDependencies extends CallsOriginOptions {
  readonly agentSettings: AgentSettingsOf;
  readonly agents: Pick<
    AgentStore,
    "settingsIn" | "setSettings" | "settingsVersions" | "settingsVersion" | "previewSettings"
  >;
}

type SettingsCalls =
  | "agents.settings"
  | "agents.setSettings"
  | "agents.settingsVersions"
  | "agents.settingsVersion"
  | "agents.previewSettings";

/** What the coding agents of a group are set to: now, before, and for one person. */
export function agentSettingsHandlers(dependencies: AgentSettingsHandlerDependencies): Handlers<SettingsCalls> {
  const { agents } = dependencies;
  return {
    "agents.settings": async (call) =>
      answerOf(await agents.settingsIn({ workspaceId: oneWorkspace(call).id, group: call.params.group })),
    "agents.setSettings": async (call) => {
      const { settings, replaces } = call.body;
      const { errors, warnings } = checkAgentSettings(settings ?? {});
      const [wrong] = errors;
      if (wrong !== undefined) throw wrongMember(wrong, errors.length);
      const place = { workspaceId: oneWorkspace(call).id, group: call.params.group };
      return {
        ...answerOf(await agents.setSettings({ ...place, settings, replaces }, call.auditSource)),
        warnings: listOf(warnings),
      };
    },
    "agents.settingsVersions": async (call) => {
      const place = { workspaceId: oneWorkspace(call).id, group: call.params.group };
      return { data: (await agents.settingsVersions(place)).map(versionRow) };
    },
    "agents.settingsVersion": async (call) => {
      const version = /^[1-9]\d{0,8}$/.test(call.params.version) ? Number(call.params.version) : 0;
      const place = { workspaceId: oneWorkspace(call).id, group: call.params.group };
      const found = await agents.settingsVersion({ ...place, version });
      if (found === null) throw new Failure("not_found", "There is no such version.", { param: "version" });
      return { ...versionRow(found), settings: objectOf(found.text) };
    },
    "agents.previewSettings": async (call) => {
      const found = await agents.previewSettings({ workspaceId: oneWorkspace(call).id, person: call.query.person });
      if (found === null) {
        throw new Failure("not_found", "There is no such member in this workspace.", { param: "person" });
      }
      const { person, group, by, maySignIn } = found;
      const settings = await dependencies.agentSettings(group.id, callsOrigin(dependencies, call.request));
      return {
        ...{ person, group, by },
        may_sign_in: maySignIn,
        settings: objectOf(settings?.text ?? null),
        checksum: settings?.checksum ?? null,
      };
    },
  };
}

function wrongMember({ path, expected }: SettingsRemark, all: number): Failure {
  const more = all === 1 ? "" : ` ${all - 1} more are wrong.`;
  return new Failure("invalid_request", `settings.${path} must be of type ${expected.join(" or ")}.${more}`, {
    param: `settings.${path}`,
  });
}

function answerOf({ settings, version }: AgentSettingsNow) {
  return {
    settings: objectOf(settings?.text ?? null),
    checksum: settings?.checksum ?? null,
    updated_at: settings?.updatedAt ?? null,
    version: version?.version ?? null,
    updated_by: version?.by ?? null,
  };
}

const versionRow = ({ version, at, by, checksum }: AgentSettingsVersion) => ({ version, at, by, checksum });

const listOf = (remarks: readonly SettingsRemark[]) =>
  remarks.map((remark) => ({ ...remark, expected: [...remark.expected] }));

function objectOf(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
