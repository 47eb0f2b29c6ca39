import { badUpstreams } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

badUpstreams(transcriptionsEndpoint);
