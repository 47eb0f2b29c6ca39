import { badUpstreams } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

badUpstreams(speechEndpoint);
