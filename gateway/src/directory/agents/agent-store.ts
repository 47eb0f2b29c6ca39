import type { AgentStore, GroupPlace } from "#ports/index.ts";
import { type PeopleOptions, peopleContext } from "../people/people-rows.ts";
import { addDevice, approveDevice, denyDevice, pollDevice, waitingDevice } from "./agent-devices.ts";
import { keysOfPerson } from "./agent-persons.ts";
import { endSession, listSessions, ownerOf, refreshSession } from "./agent-sessions.ts";
import {
  groupRow,
  listVersions,
  oneVersion,
  previewSettings,
  setSettings,
  settingsIn,
  settingsOf,
} from "./agent-settings.ts";

/** Sign-ins of coding agents: the devices that wait for somebody, and what they were given. */
export function createAgentStore(dependencies: PeopleOptions): AgentStore {
  const options = peopleContext(dependencies);
  const { kysely } = options.database;
  const groupIn = async ({ workspaceId, group }: GroupPlace) => (await groupRow(kysely, workspaceId, group)).id;
  return {
    addDevice: (device) => addDevice(options, device),
    waitingDevice: (userDigest) => waitingDevice(options, userDigest),
    approve: (userDigest, approval, auditSource) => approveDevice(options, { userDigest, ...approval }, auditSource),
    deny: (userDigest, auditSource) => denyDevice(options, userDigest, auditSource),
    poll: (deviceDigest) => pollDevice(options, deviceDigest),
    refresh: (sessionId, generation) => refreshSession(options, sessionId, generation),
    ownerOf: (sessionId) => ownerOf(options, sessionId),
    keysOf: (userId) => keysOfPerson(options.database.reading, userId),
    sessions: ({ userId }) => listSessions(options, userId),
    endSession: (sessionId, userId, auditSource) => endSession(options, { sessionId, userId }, auditSource),
    settingsOf: (groupId) => settingsOf(options.database.reading, groupId),
    settingsIn: (place) => settingsIn(kysely, place),
    setSettings: (place, auditSource) => setSettings(options, place, auditSource),
    settingsVersions: async (place) => await listVersions(kysely, await groupIn(place)),
    settingsVersion: async (place) => await oneVersion(kysely, await groupIn(place), place.version),
    previewSettings: (place) => previewSettings(kysely, place),
  };
}
