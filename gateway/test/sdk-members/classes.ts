/**
 * The effect of each member of a request, by vendor: `member`, or `Type.member` for names with several meanings. The tests
 * require that the reader of the endpoint finds each member that selects something, sets who pays, names a stored
 * object or has a cost.
 */
export interface Classes {
  /** Selects a model, a route, a tier, a region or a program. */
  readonly chooses: string;
  /** Sets who pays. */
  readonly payer: string;
  /** Names an object stored at the vendor. */
  readonly state: string;
  /** The model of the call. */
  readonly own: string;
  /** Has a separate cost. The test requires a separate hold from the reader. */
  readonly cost: string;
  /** Changes the cost of a call within its hold: output up to the cap, input and cache marks according to the body. */
  readonly within: string;
  /** Has a cost that cannot be bounded. "Not bounded" in docs/limits.md names it. */
  readonly unbounded: string;
  /** Makes the vendor fetch, send or sign in somewhere for the caller, with the caller's data. */
  readonly elsewhere: string;
  /** Labels that change neither the answer nor the price: whom the request is for, and where it is counted. */
  readonly labels: string;
  /** The prompt, and the form of the answer. */
  readonly content: string;
}

/** Names with different meanings in different types. Each type's member is classified separately. */
export const manifold: ReadonlySet<string> = new Set(["id", "model", "mode", "token", "voice", "speed", "version"]);

export const openai: Classes = {
  chooses: `service_tier Moderation.model ImageGeneration.model Svg.model Reasoning.mode cyber best_of enabled
    completion_window`,
  payer: "",
  state: `ItemReference.id Audio.id ID.id ResponseConversationParam.id BetaResponseConversationParam.id ResponsePrompt.id
    BetaResponsePrompt.id conversation previous_response_id comparison_response_id file_id file_ids vector_store_ids
    container container_id skill_id tunnel_id`,
  own: `ChatCompletionCreateParamsNonStreaming.model ChatCompletionCreateParamsStreaming.model
    CompletionCreateParamsNonStreaming.model CompletionCreateParamsStreaming.model
    ResponseCreateParamsNonStreaming.model ResponseCreateParamsStreaming.model InputTokenCountParams.model
    ResponseCompactParams.model EmbeddingCreateParams.model ImageGenerateParamsNonStreaming.model
    ImageGenerateParamsStreaming.model openai_image_edits.model SpeechCreateParams.model openai_transcriptions.model
    openai_translations.model ModerationCreateParams.model VideoCreateParams.model
    DecisionCreateParams.model`,
  cost: `n multi_agent max_tokens max_completion_tokens max_output_tokens web_search_options audio seconds background`,
  within: `prompt_cache_breakpoint PromptCacheBreakpoint.mode DecisionPromptCacheBreakpoint.mode ttl detail modalities prompt_cache_options
    PromptCacheOptions.mode prompt_cache_retention reasoning_effort store tools verbosity context_compression
    hybrid_search input_fidelity quality size reasoning effort max_tool_calls prewarm context
    max_concurrent_subagents`,
  unbounded: `prediction search_context_size context_management compact_threshold memory_limit max_num_results complexity
    frame_count partial_images svg`,
  elsewhere: `server_url headers authorization network_policy allowed_domains domain_secrets image_url file_url url
    external_web_access connector_id`,
  labels: `user safety_identifier metadata prompt_cache_key betas continuation_id background_options`,
  content: `access_programs acknowledged_safety_checks action actions agent agent_name allowed_callers allowed_tools always
    annotations approval_request_id approve approximate arguments async attributes author body bodyUsed button bytes
    call_id caller caller_id categories chunking_strategy city code command commands content country custom data
    defer_loading definition description diff dimensions display_height display_width domain echo embedding_weight
    encoding_format encrypted_content end_index env environment error execution exit_code file file_data
    filename filters fingerprint format frame_duration_ms frequency_penalty function function_call functions
    generate_summary grammar ChatCompletionMessageCustomToolCall.id ChatCompletionMessageFunctionToolCall.id
    AdditionalTools.id ApplyPatchCall.id ApplyPatchCallOutput.id CompactionTrigger.id ComputerCallOutput.id
    AcknowledgedSafetyCheck.id FunctionCallOutput.id ImageGenerationCall.id LocalShellCall.id
    LocalShellCallOutput.id McpApprovalRequest.id McpApprovalResponse.id McpCall.id McpListTools.id Program.id
    ProgramOutput.id ResponseCodeInterpreterToolCall.id ResponseCompactionItemParam.id ResponseComputerToolCall.id
    PendingSafetyCheck.id ResponseConfigurationUpdateItemParam.id ResponseCustomToolCall.id
    ResponseCustomToolCallOutput.id ResponseFileSearchToolCall.id ResponseFunctionToolCall.id
    ResponseFunctionWebSearch.id ResponseOutputMessage.id ResponseReasoningItem.id
    ResponseToolSearchOutputItemParam.id ShellCall.id ShellCallOutput.id ToolSearchCall.id AgentMessage.id
    BetaResponseCodeInterpreterToolCall.id BetaResponseCompactionItemParam.id BetaResponseComputerToolCall.id
    BetaResponseConfigurationUpdateItemParam.id BetaResponseCustomToolCall.id BetaResponseCustomToolCallOutput.id
    BetaResponseFileSearchToolCall.id BetaResponseFunctionToolCall.id BetaResponseFunctionWebSearch.id
    BetaResponseOutputMessage.id BetaResponseReasoningItem.id BetaResponseToolSearchOutputItemParam.id
    MultiAgentCall.id MultiAgentCallOutput.id DecisionInputFunctionCall.id DecisionInputFunctionCallOutput.id
    DecisionInputCustomToolCall.id DecisionInputCustomToolCallOutput.id choices label levels questions image include include_obfuscation include_usage index input
    input_audio input_image_mask input_reference input_schema input_tokens instructions json_schema key keys
    keywords known_speaker_names known_speaker_references language languages lastModified locked logit_bias logprob
    logprobs logs max_output_length media_type message messages Input.mode Output.mode
    ChatCompletionAllowedTools.mode ToolChoiceAllowed.mode BetaToolChoiceAllowed.mode SvgUsage.model moderation
    moderation_details moderation_stage name namespace never ok operation outcome output output_compression
    output_format output_schema output_tokens outputs parallel_tool_calls param parameters path pattern
    pending_safety_checks personality phase policy prefix_padding_ms presence_penalty prompt queries query ranker
    ranking_options read_only reason reasoning_tokens recipient redirected refusal region require_approval
    response_format result results revised_prompt role schema score score_threshold scroll_x scroll_y
    search_content_types seed server_description server_label silence_duration_ms skills source sources
    SpeechCreateParams.speed start_index status statusText stderr stdout stop stream stream_format stream_options
    strict style suffix summary svg_usage syntax temperature text text_weight threshold timeout_ms
    timestamp_granularities timezone title Logprob.token TopLogprob.token tool_call_id tool_calls tool_choice
    tool_names top_logprobs top_p total_tokens truncation type user_location value variables SkillReference.version
    ResponsePrompt.version BetaSkillReference.version BetaResponsePrompt.version ChatCompletionAudioParam.voice
    SpeechCreateParams.voice webkitRelativePath working_directory x y`,
};

export const anthropic: Classes = {
  chooses: `service_tier MessageCreateParamsNonStreaming.speed MessageCreateParamsStreaming.speed
    MessageCountTokensParams.speed inference_geo fallbacks BetaFallbackParam.model BetaFallbackParam.speed
    BetaAdvisorTool20260301.model`,
  payer: `bill_to user_profile_id workspace_id`,
  state: `file_id skill_id container ContainerParams.id BetaContainerParams.id previous_message_id`,
  own: `MessageCreateParamsNonStreaming.model MessageCreateParamsStreaming.model MessageCountTokensParams.model`,
  cost: `max_tokens max_uses thread`,
  within: `cache_control ttl thinking output_config effort budget_tokens tools task_budget total`,
  unbounded: `max_content_tokens caching compaction context_management edits`,
  elsewhere: `url authorization_token mcp_servers url_sources`,
  labels: `fallback_credit_token BetaFallbackCreditTokenParam.token user_id metadata betas diagnostics billing_policy`,
  content: `active allowed_callers allowed_domains allowed_tools block_binding blocked_domains caller citations cited_text
    city clear_at clear_at_least clear_tool_inputs client_tool_results close_tab configs content context country
    cursor_position data default_config defer_loading definition description disable_parallel_tool_use display
    display_height_px display_number display_width_px document_index document_title double_click download_id
    eager_input_streaming enable_zoom enabled encrypted_content encrypted_index encrypted_stdout end_block_index
    end_char_index end_page_number error error_code error_message exclude_tools file_type file_upload find
    form_input format from get_page_text hold_key hover ServerToolUseBlockParam.id ToolUseBlockParam.id
    BetaMCPToolUseBlockParam.id BetaServerToolUseBlockParam.id BetaToolUseBlockParam.id input input_examples
    input_schema instructions is_error is_file_update javascript_exec keep key left_click left_click_drag
    left_mouse_down left_mouse_up lines list_tabs max_characters mcp_server_name media_type messages middle_click
    BetaFallbackCreditTokenParam.mode BetaFallbackInfoParam.model mouse_move name navigate new_lines new_start
    new_tab num_lines old_lines old_start output_format oversized_image page_age path pause_after_compaction
    prefix_mismatch_behavior properties read_console read_network read_page region remaining required
    response_inclusion retrieved_at return_code right_click role schema screenshot scroll scroll_to
    search_result_index server_name server_tool_results signature size_bytes skills source start_block_index
    start_char_index start_line start_page_number state_changes stderr stdout stop_reason stop_sequences stream
    strict switch_tab system tab_id tabs text timezone title to tool tool_changes tool_choice tool_configuration
    tool_id tool_name tool_references tool_use_id toolset_name total_lines transformations trigger triple_click type
    use_cache user_input user_location value SkillParams.version BetaSkillParams.version wait zoom`,
};

export const interactions: Classes = {
  chooses: `service_tier AntigravityAgentConfig.model CodeMenderAgentConfig.model enable_bigquery_tool`,
  payer: "",
  state: `previous_interaction_id continuation_token cached_content environment environment_id session_id finding_id uri
    file_search_store_names rag_corpus rag_file_ids datastores engine credential gcs_uri SpeechConfig_2.voice`,
  own: `CreateModelInteraction.model agent`,
  cost: `max_output_tokens max_total_tokens background`,
  within: `tools store thinking_level resolution image_config image_size response_modalities video_config`,
  unbounded: `fps max_rounds`,
  elsewhere: `webhook_config uris headers url api_key sources source env network allowlist domain transform`,
  labels: `labels user_metadata`,
  content: `adaptation_phrases agent_config allowed_tools alpha annotations arguments aspect_ratio bit_rate call_id channels
    code collaborative_planning content custom_config custom_metadata custom_vocabulary data delivery description
    details diarization_mode disabled_safety_policies document_uri duration enable_prompt_injection_detection
    enable_widget encoding end_index end_offset error exa_ai_search_config excluded_predefined_functions file_name
    filter find_request fix_request generation_config hybrid_search RetrievalCallStep.id URLContextCallStep.id
    GoogleMapsCallStep.id MCPServerToolCallStep.id ProcessingCallStep.id FileSearchCallStep.id
    CodeExecutionCallStep.id GoogleSearchCallStep.id FunctionCallStep.id input is_error language language_codes
    language_hints latitude longitude media_id message metadata_filter method mime_type FindRequest.mode
    TranscriptionConfig.mode AllowedTools.mode model_name name page_number parallel_ai_search_config parameters path
    place_id places processing queries rag_resources rag_retrieval_config rag_store_config rank_service ranking
    ranking_config response_format response_mime_type result retrieval_type retrieval_types review_id
    review_snippets safety_settings sample_rate schema search_suggestions search_type search_types seed server_name
    session_config signature similarity_top_k source_files source_text speaker speakers speech_config start_index
    start_offset status stop_sequences stream style summary system_instruction target task temperature text
    thinking_summaries threshold timestamp_granularities title tool_choice top_k top_p transcription_config type
    urls vector_distance_threshold vector_similarity_threshold vertex_ai_search_config visualization
    widget_context_token`,
};

export const google: Classes = {
  chooses: `routingConfig modelSelectionConfig serviceTier modelName`,
  payer: "",
  state: `VoiceConfig.voice cachedContent fileUri continuationToken fileSearchStoreNames ragCorpora ragCorpus ragFileIds datastore dataStore
    engine apiKeySecret apiKeySecretVersion credentialSecret serviceAccount promptTemplateName responseTemplateName
    gcsUri outputUriPrefix`,
  own: "",
  cost: `candidateCount maxOutputTokens googleSearch googleSearchRetrieval googleMaps enterpriseWebSearch urlContext
    codeExecution fileSearch exaAiSearch parallelAiSearch retrieval`,
  within: `mediaResolution imageSize resolution responseModalities thinkingConfig thinkingBudget thinkingLevel imageConfig
    compressionQuality tools externalApi vertexAiSearch vertexRagStore computerUse`,
  unbounded: `fps`,
  elsewhere: `mcpServers url endpoint headers searchTemplate accessToken apiKey apiKeyConfig apiKeyString apiAuth authConfig
    authType googleServiceAccountConfig httpBasicAuthConfig httpElementLocation idToken oauthConfig oidcConfig
    streamableHttpTransport apiSpec`,
  labels: `labels store partMetadata`,
  content: `adaptationPhrases allowedFunctionNames alpha anyOf args aspectRatio audio audioTimestamp audioTrackExtraction
    audioTranscription audioTranscriptionConfig autoMode autoTruncate behavior bitRate blockingConfidence boolValue
    category code codeExecutionResult consentAudio content contents customConfigs customVocabulary data
    dataStoreSpecs default delivery description diarization disableAttribution disabledSafetyPolicies displayName
    documentOcr duration dynamicRetrievalConfig dynamicThreshold echoTargetLanguage elasticSearchParams
    enableAffectiveDialog enableDataRetention enableEnhancedCivicAnswers enablePromptInjectionDetection enableWidget
    enableZeroDataRetention endOffset endTime enum environment example excludeDomains excludedPredefinedFunctions
    executableCode featureSelectionPreference fileData filter finished format frequencyPenalty functionCall
    functionCallingConfig functionDeclarations functionResponse generationConfig generationOutputConfig
    groundingTypes hybridSearch ToolCall.id ToolResponse.id CodeExecutionResult.id ExecutableCode.id FunctionCall.id
    FunctionResponse.id image imageOutputOptions imageSearch includeServerSideToolInvocations includeThoughts index
    inlineData items jsonPath language languageAuto languageCode languageCodes languageHints latLng latitude level
    llmRanker logprobs longitude manualMode maxItems maxLength maxProperties maxResults maximum mediaProcessing
    metadataFilter method mimeType minItems minLength minProperties minimum AudioTranscriptionConfig.mode
    DynamicRetrievalConfig.mode FunctionCallingConfig.mode modelArmorConfig modelRoutingPreference
    multiSpeakerVoiceConfig name nullValue nullable numHits numTokens numberValue outcome output
    outputCompressionQuality outputDimensionality outputMimeType parameters parametersJsonSchema partialArgs parts
    pattern personGeneration places prebuiltVoiceConfig presencePenalty prominentPeople properties propertyOrdering
    ragResources ragRetrievalConfig rankService ranking replicatedVoiceConfig required response responseFormat
    responseJsonSchema responseLogprobs responseMimeType responseSchema retrievalConfig role routing safetySettings
    sampleRate scheduling schema searchTypes seed signature similarityTopK simpleSearchParams sourceText speaker
    speakerLabel speakerVoiceConfigs speechConfig speechMetadata sseReadTimeout startOffset startTime stopSequences
    storeContext streamFunctionCallArguments stringValue style systemInstruction targetLanguageCode taskType
    temperature terminateOnClose text thought thoughtSignature threshold timeRangeFilter timeout title toolCall
    toolConfig toolResponse toolType topK topP translationConfig type vectorDistanceThreshold
    vectorSimilarityThreshold video videoMetadata voiceConfig voiceConsentSignature voiceName
    voiceSampleAudio webSearch willContinue word wordTimestamp words`,
};
