/** The tables of sign-ins of coding agents. Of a code only its digest is here; tokens are not stored at all. */
export interface AgentTables {
  agent_devices: AgentDeviceTable;
  agent_sessions: AgentSessionTable;
  agent_settings: AgentSettingsTable;
  agent_settings_versions: AgentSettingsVersionTable;
}

interface AgentDeviceTable {
  device_digest: string;
  user_digest: string;
  state: "pending" | "approved" | "denied";
  client: string;
  ip: string;
  created_at: number;
  expires_at: number;
  /** When it was last asked about; 0: not yet. */
  polled_at: number;
  /** Who let it in, and the key that they call with. */
  user_id: string | null;
  key_id: string | null;
}

/** `settings` is JSON with sorted keys, which `checksum` is of. Migration 037. */
interface AgentSettingsTable {
  group_id: string;
  settings: string;
  checksum: string;
  updated_at: number;
}

/** Every version of them, counted from 1 in each group; the last is what is there now. `settings` null: it took them away. Migration 041. */
interface AgentSettingsVersionTable {
  group_id: string;
  version: number;
  settings: string | null;
  checksum: string | null;
  at: number;
  actor: string;
}

/** `generation` counts the refresh tokens that were given out; `refreshed_at` is when the last one was. */
interface AgentSessionTable {
  id: string;
  user_id: string;
  key_id: string;
  generation: number;
  client: string;
  ip: string;
  created_at: number;
  refreshed_at: number;
  expires_at: number;
}
