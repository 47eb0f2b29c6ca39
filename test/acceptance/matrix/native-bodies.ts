/**
 * Request bodies that no serializer writes: unusual whitespace, unnecessary escapes, unknown fields and types, and numbers that a
 * parser would round. `MODEL` is replaced by the model's name.
 */
export interface NativeBody {
  readonly name: string;
  readonly path: string;
  readonly upstream: string;
  readonly body: (facts: { readonly stream: boolean; readonly sealed: Sealed }) => string;
  /** False if the path, not the body, requests a stream. */
  readonly streams: boolean;
}

/** Content that the upstream has encrypted; it refuses anything else in its place. */
export interface Sealed {
  readonly reasoning: string;
  readonly compaction: string;
  readonly signature: string;
  readonly thoughtSignature: string;
}

export const nativeBodies: readonly NativeBody[] = [
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    upstream: "chat",
    streams: true,
    body: ({ stream }) => `\r\n {"messages" :\t[ {"role":"system","content":"caf\\u00e9 \\ud83c\\udf0a \\/ slash"},
      {"role":"user","content":[{"type":"text","text":"h\u00e9llo \u{1f30a} \\u0000"},{"type":"hologram","hologram":{"depth":1.50}}],"name":"x"}],
      "mod\\u0065l" : "MODEL" , "seed":12345678901234567890, "temperature":1.0e0, "logit_bias":{"50256":-1E2},
      "tools":[{"type":"namespace","name":"n","tools":[]},{"type":"web_search"}],
      "nested":{"model":"not this one","stream":false}, "a_member_of_next_year":[null,true,{"":""}],
      "stream":${stream},"stream_options":{"include_usage":true,"include_obfuscation":false} }\n\n`,
  },
  {
    name: "messages",
    path: "/v1/messages?beta=true",
    upstream: "anthropic",
    streams: true,
    body: ({ stream, sealed }) => `{ "max_tokens" : 64 ,"stream":${stream},
      "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; \\u00e9","cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}}],
      "metadata":{"user_id":"{\\"device_id\\":\\"d\\",\\"session_id\\":\\"s\\"}"},
      "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
      "model"\n:\n"MODEL",
      "tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8},{"name":"t","input_schema":{"type":"object"},"eager_input_streaming":true,"defer_loading":true}],
      "messages":[{"role":"user","content":[{"type":"text","text":"h\u00e9llo \\u0007 \u{1f30a}","cache_control":{"type":"ephemeral"}},{"type":"block_of_next_year","deep":[1.0,2.50]}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"First, what is being asked here?","signature":"${sealed.signature}"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"text","text":"ok"}]},
        {"role":"user","content":"model \\"model\\":\\"x\\""}],
      "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"xhigh"},"speed":"standard","unknown_member":0.10 }`,
  },
  {
    name: "responses",
    path: "/v1/responses",
    upstream: "responses",
    streams: true,
    body: ({ stream, sealed }) => `{"input":[
      {"type":"message","role":"developer","content":[{"type":"input_text","text":"be  \\u00e9 kind"}]},
      {"type":"compaction","id":"cmp_9","encrypted_content":"${sealed.compaction}"},
      {"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"${sealed.reasoning}"},
      {"type":"item_of_next_year","value":1.0,"model":"not this one"},
      {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
      {"role":"user","content":[{"type":"input_text","text":"h\u00e9llo \u{1f30a}"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t"}} ],
      "tools":[{"type":"namespace","name":"mcp__x","description":"","tools":[{"type":"function","name":"f","strict":false,"parameters":{"type":"object","properties":{}}}]},
        {"type":"web_search","external_web_access":false},{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"tool_of_next_year"}],
      "stream" : ${stream} ,"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k-1",
      "model":"MODEL","client_metadata":{"x-codex-installation-id":"i"},"reasoning":{"effort":"high","context":"all_turns"},"text":{"verbosity":"low"} }`,
  },
  {
    name: "responses with a compaction trigger",
    path: "/v1/responses",
    upstream: "responses",
    streams: true,
    body: ({ stream }) => `{"model":"MODEL","instructions":"x","input":[{"role":"user","content":"one  two"},
      {"type":"compaction_trigger" , "unknown":[ ]}],"stream":${stream},"store":false,"tool_choice":"auto"}`,
  },
  {
    name: "responses/compact",
    path: "/v1/responses/compact",
    upstream: "responses",
    streams: false,
    body: () => `{"input":[{"role":"user","content":"one  two \\u00e9"}], "instructions":"x" ,"model":"MODEL",
      "tools":[{"type":"namespace","name":"n","tools":[]}],"parallel_tool_calls":true,"reasoning":{"effort":"low"},"text":{"verbosity":"low"},"of_next_year":1.0}`,
  },
  {
    name: "generateContent",
    path: "/v1beta/models/PUBLIC:",
    upstream: "gemini",
    streams: true,
    body: ({
      sealed,
    }) => `{"contents":[{"role":"user","parts":[{"text":"h\u00e9llo \\ud83c\\udf0a"},{"of_next_year":{"x":1.50}}]},
      {"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"${sealed.thoughtSignature}"}]},
      {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}],
      "nested":{"model":"not this one"} , "system_instruction":{"parts":{"text":"  "}},
      "tools":[{"googleSearch":{}},{"function_declarations":[{"name":"f","parametersJsonSchema":{"type":"object","$ref":"#/x"}}]}],
      "generationConfig":{"temperature":1.0,"of_next_year":[]},"safetySettings":[],"labels":{"a":"b"}}`,
  },
  {
    name: "interactions",
    path: "/v1beta/interactions",
    upstream: "interactions",
    streams: true,
    body: ({
      stream,
    }) => `{ "input":[{"type":"user_input","content":[{"type":"text","text":"h\u00e9llo \\ud83c\\udf0a \\/"}]},
      {"type":"thought","signature":"c2lnbmVk","summary":[{"text":"  ","type":"text"}]},
      {"type":"google_search_call","id":"gs_1","arguments":{"queries":["model \\"model\\""]},"signature":"c2ln"},
      {"type":"google_search_result","call_id":"gs_1","result":[{"of_next_year":1.50}],"signature":"c2ln"},
      {"type":"function_call","id":"c1","name":"f","arguments":{"model":"not this one","n":12345678901234567890}},
      {"type":"function_result","call_id":"c1","name":"f","result":{"stream":false}}],
      "stream" : ${stream},"store":false, "mod\\u0065l" :\t"MODEL","labels":{"a":"b"},
      "tools":[{"type":"function","name":"f","parameters":{"type":"object","$ref":"#/x"}},{"of_next_year":[],"type":"google_search"}],
      "generation_config":{"temperature":1.0e0,"thinking_level":"low","seed":7}}`,
  },
  {
    name: "embeddings",
    path: "/v1/embeddings",
    upstream: "chat",
    streams: false,
    body: () =>
      `{"input" : ["h\u00e9llo \\u00e9", "two"],"model":"MODEL","dimensions":8,"encoding_format":"base64","of_next_year":1.0}`,
  },
];
