import { otherMediaTypes } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

otherMediaTypes(speechEndpoint);
