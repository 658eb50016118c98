# find_package(JackpotLink) gives the target JackpotLink::table.
include(CMakeFindDependencyMacro)
find_dependency(Protobuf)
find_dependency(OpenSSL)
include("${CMAKE_CURRENT_LIST_DIR}/JackpotLinkTargets.cmake")
