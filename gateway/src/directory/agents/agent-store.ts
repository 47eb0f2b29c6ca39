import { type BoundStore, bindStore } from "../bound-store.ts";
import { type PeopleContext, type PeopleOptions, peopleContext } from "../people/people-rows.ts";
import { addDevice, approveDevice, denyDevice, pollDevice, waitingDevice } from "./agent-devices.ts";
import { keysOfPerson } from "./agent-persons.ts";
import { endSession, listSessions, ownerOf, refreshSession } from "./agent-sessions.ts";
import {
  previewSettings,
  setSettings,
  settingsIn,
  settingsOf,
  settingsVersion,
  settingsVersions,
} from "./agent-settings.ts";

/**
 * Sign-ins of coding agents (RFC 8628). A person who signs an agent in calls with a key of their own in one workspace, which has
 * no secret: limits, grants and the ledger go by it as by any key. `KeyStore` finds it by `personDigest`, and each sign-in by
 * `sessionDigest`, while the person may make keys there; a change notice tells every process when that ends.
 */
export type AgentStore = BoundStore<typeof functions>;

export function createAgentStore(options: PeopleOptions): AgentStore {
  return bindStore(peopleContext(options), functions);
}

const functions = {
  addDevice,
  waitingDevice,
  approve: approveDevice,
  deny: denyDevice,
  poll: pollDevice,
  refresh: refreshSession,
  ownerOf,
  keysOf: ({ database }: PeopleContext, userId: string) => keysOfPerson(database.reading, userId),
  sessions: listSessions,
  endSession,
  settingsOf: ({ database }: PeopleContext, groupId: string) => settingsOf(database.reading, groupId),
  settingsIn,
  setSettings,
  settingsVersions,
  settingsVersion,
  previewSettings,
};
