# Builds the stand-ins in parallel: docker buildx bake -f airgap/docker-bake.hcl [target ...]
variable "HOST_CA" { default = "/usr/local/share/ca-certificates" }

group "default" { targets = ["stand-in"] }

target "stand-in" {
  name       = item
  matrix     = { item = ["jre25", "jre21", "maven", "golang", "rust", "python", "postgres", "postgres-exporter", "prometheus", "prometheus3", "cadvisor"] }
  context    = "airgap"
  contexts   = { host-ca = HOST_CA }
  target     = item
  tags       = ["loom-lab-airgap/${item}"]
}
